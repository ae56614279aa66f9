package spec_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/spec/testdata/generated"
)

// oapi-codegen generates the client from the document beside it. The tool has a separate module file, so that its dependencies stay out of this
// module.
//
//go:generate env RIN_UPDATE_GOLDEN=1 go test .
//go:generate go tool -modfile=../../.ci/tools.mod oapi-codegen -config testdata/generated/oapi-codegen.yaml testdata/generated/openapi.json

var _ = Describe("the generated client", func() {
	var (
		server *httptest.Server
		client *generated.ClientWithResponses
	)

	BeforeEach(func() {
		node, err := sandbox.New(sandbox.Config{})
		Expect(err).NotTo(HaveOccurred())
		server = httptest.NewServer(node)
		DeferCleanup(server.Close)
		bearer := "Bearer " + fetchToken(server.URL, node.Credentials()[0])
		client, err = generated.NewClientWithResponses(server.URL+"/ris-synergy", generated.WithRequestEditorFn(
			func(_ context.Context, request *http.Request) error {
				request.Header.Set("Authorization", bearer)
				return nil
			}))
		Expect(err).NotTo(HaveOccurred())
	})

	It("reads the info resource", func(ctx SpecContext) {
		info, err := client.GetInfoWithResponse(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.JSON200.Endpoints).To(HaveKey("funding"))
	})

	It("reads a filtered page of the list, and a call in detail", func(ctx SpecContext) {
		page, err := client.FindAllWithResponse(ctx, &generated.FindAllParams{
			FundingType: ptr(generated.FundingTypeCALL), PagePage: ptr(int32(0)), PageSize: ptr(int32(5)),
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(page.JSON200).NotTo(BeNil(), string(page.Body))
		Expect(*page.JSON200).To(HaveLen(5))
		listed, err := (*page.JSON200)[0].AsCall()
		Expect(err).NotTo(HaveOccurred())

		detail, err := client.FindByKeyWithResponse(ctx, listed.Id)
		Expect(err).NotTo(HaveOccurred())
		kind, err := detail.JSON200.ValueByDiscriminator()
		Expect(err).NotTo(HaveOccurred())
		Expect(kind).To(BeAssignableToTypeOf(generated.Call{}))
		Expect(kind.(generated.Call).Name).To(Equal(listed.Name))
	})

	It("reads the problem body of a 404", func(ctx SpecContext) {
		refused, err := client.FindByKeyWithResponse(ctx, "none")
		Expect(err).NotTo(HaveOccurred())
		Expect(refused.ApplicationproblemJSON404.Status).To(BeEquivalentTo(404))
	})

	It("reads the try-out space when only the base URL changes", func(ctx SpecContext) {
		open, err := generated.NewClientWithResponses(server.URL + "/ris-synergy/try-out")
		Expect(err).NotTo(HaveOccurred())
		page, err := open.FindAllWithResponse(ctx, &generated.FindAllParams{PageSize: ptr(int32(3))})
		Expect(err).NotTo(HaveOccurred())
		Expect(*page.JSON200).To(HaveLen(3))
	})
})

func ptr[T any](value T) *T { return &value }

func fetchToken(base string, client sandbox.Credential) string {
	GinkgoHelper()
	response, err := http.PostForm(base+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret},
	})
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	Expect(json.NewDecoder(response.Body).Decode(&granted)).To(Succeed())
	return granted.AccessToken
}
