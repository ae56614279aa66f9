package flow_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
)

var _ = Describe("An account", func() {
	const document = `{"member":[
		{"id":"A","oauth2":"https://a.example/token","info":"https://a.example/x/info/v1/oauth/info/"},
		{"id":"B","oauth2":"https://b.example/token","info":"https://b.example/x/info/v1/oauth/info/"},
		{"id":"PLAIN","oauth2":"http://c.example/token","info":"https://c.example/i"},
		{"id":"NONE"}]}`
	client := target.Credentials{ClientID: "me", ClientSecret: target.NewSecret("the-secret-of-node-a")}
	newWalk := func(start target.Target) *flow.Walk {
		GinkgoHelper()
		w, err := flow.New(flow.Options{Target: start})
		Expect(err).NotTo(HaveOccurred())
		return w
	}

	It("is used at the node that it was given for, and at no other", func() {
		w := newWalk(target.Target{RegistryDocument: []byte(document), NodeID: "A", Credentials: client, Second: &client, ExpiredToken: target.NewSecret("eyJ"),
			SpecURL: "https://a.example/other-spec", AllowOrigins: []string{"https://ok.example"}})
		Expect(w.ChooseNode("A")).To(Succeed())
		Expect(w.Target().SpecURL).To(Equal("https://a.example/other-spec"), "a given URL overrides the one derived from the entry")
		Expect(w.Target().Credentials).To(Equal(client))
		Expect(w.ChooseNode("B")).To(Succeed())
		Expect(w.Account()).To(BeZero())
		Expect(w.Target().SpecURL).To(Equal("https://b.example/x/funding/v3/api-docs"))
		Expect(w.Target().AllowOrigins).To(ConsistOf("https://ok.example"))
		Expect(w.ChooseNode("A")).To(Succeed())
		Expect(w.Account().Client).To(Equal(client), "the walk remembers the account")
		Expect(w.Account().Expired.Reveal()).To(Equal("eyJ"))
	})

	It("stays in use when the same node is chosen again", func() {
		w := newWalk(target.Target{RegistryDocument: []byte(document), Credentials: client})
		Expect(w.ChooseNode("A")).To(Succeed())
		count := w.TargetCount()
		Expect(w.ChooseNode("A")).To(Succeed())
		Expect(w.TargetCount()).To(Equal(count))
	})

	It("is kept for the named node when another one is chosen first", func() {
		w := newWalk(target.Target{RegistryDocument: []byte(document), NodeID: "A", Credentials: client})
		Expect(w.ChooseNode("B")).To(Succeed())
		Expect(w.Account()).To(BeZero())
	})

	It("is dropped for another registry or another origin, and stays when only a path changes", func() {
		w := newWalk(target.Target{RegistryDocument: []byte(document), NodeID: "A", Credentials: client})
		Expect(w.ChooseNode("A")).To(Succeed())
		Expect(w.UseURLs("https://a.example/oauth/token", "https://a.example/x/info/v1/oauth/info/", "")).To(Succeed())
		Expect(w.Account().Client).To(Equal(client))
		Expect(w.UseURLs("https://a.example:8443/token", "https://a.example/x/info/v1/oauth/info/", "")).To(Succeed())
		Expect(w.Account()).To(BeZero())
		Expect(w.HasRegistry()).To(BeFalse())
		Expect(w.UseURLs("https://a.example/oauth/token", "https://a.example/x/info/v1/oauth/info/", "")).To(Succeed())
		Expect(w.Account().Client).To(Equal(client))
		Expect(w.UseRegistry("https://registry.example/ris.json", nil)).To(Succeed())
		Expect(w.Account()).To(BeZero())
		Expect(w.Target().Registry).To(Equal("https://registry.example/ris.json"))
	})

	It("is refused for URLs to which no secret may be sent", func() {
		w := newWalk(target.Target{RegistryDocument: []byte(document)})
		count := w.TargetCount()
		Expect(w.ChooseNode("PLAIN")).To(MatchError(ContainSubstring("not encrypted")))
		Expect(w.ChooseNode("NONE")).To(MatchError(ContainSubstring("no token URL")))
		Expect(w.UseURLs("http://c.example/token", "ftp://c.example/", "nonsense")).To(MatchError(And(ContainSubstring("not encrypted"), ContainSubstring("ftp:"), ContainSubstring("nonsense"))))
		Expect(w.UseRegistry("http://registry.example/ris.json", nil)).To(MatchError(ContainSubstring("not encrypted")))
		Expect(w.TargetCount()).To(Equal(count))
		Expect(newWalk(target.Target{RegistryDocument: []byte(document), AllowOrigins: []string{"http://c.example"}}).ChooseNode("PLAIN")).To(Succeed())
	})
})

var _ = DescribeTable("The step to edit is", func(r flow.Result, want flow.Step, editable bool) {
	got, ok := r.EditStep()
	Expect(ok).To(Equal(editable))
	Expect(got).To(Equal(want))
},
	Entry("none without trouble", flow.Result{}, flow.Node, false),
	Entry("the node when nothing was sent", flow.Result{Step: flow.Token, Trouble: &flow.Trouble{}}, flow.Node, true),
	Entry("the node when nothing answered", failedResult(evidence.TokenEndpoint, 0), flow.Node, true),
	Entry("the credentials when they were refused", failedResult(evidence.TokenEndpoint, http.StatusUnauthorized), flow.Credentials, true),
	Entry("the credentials of the second client", failedResult(evidence.SecondClient, http.StatusBadRequest), flow.Credentials, true),
	Entry("the node when a good token is refused", failedResult(evidence.Info, http.StatusUnauthorized), flow.Node, true),
	Entry("the credentials when the role is missing", failedResult(evidence.Info, http.StatusForbidden), flow.Credentials, true),
	Entry("the node for a web page", failedResult(evidence.TokenEndpoint, http.StatusOK), flow.Node, true),
	Entry("none in the last step", flow.Result{Step: flow.TakeAway, Trouble: &flow.Trouble{}}, flow.Node, false),
)

// failedResult returns a result whose last exchange has this resource and status; status 0 means no answer.
func failedResult(resource evidence.Resource, status int) flow.Result {
	x := evidence.Exchange{Label: resource.With(evidence.OK)}
	if status != 0 {
		x.Response = &evidence.Response{Status: status}
	}
	return flow.Result{Step: flow.Token, Exchanges: []evidence.Exchange{x}, Trouble: &flow.Trouble{}}
}
