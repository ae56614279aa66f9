package mockapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// publishedFolder returns the folder with the network's published documents, which are not part of this repository.
func publishedFolder() string {
	folder := os.Getenv("RIN_PUBLISHED")
	if folder == "" {
		Skip("RIN_PUBLISHED names no folder with the network's published documents: they are NOT tested here, but by make e2e")
	}
	return folder
}

var _ = Describe("the published documents of the network", func() {
	DescribeTable("are served with answers that both validators accept", func(name string, list string) {
		file := filepath.Join(publishedFolder(), name+".json")
		for seed := range uint64(6) {
			n := serveNode(sandbox.Config{Loopback: true, Seed: seed, API: sandbox.APIConfig{File: file}})
			judges := newJudges(n, "/"+name+"/v1/api-docs")
			judges.expectFits(n.get(list))
			if name == "info" || name == "orgUnit" {
				continue
			}
			many := serveNode(sandbox.Config{Loopback: true, Seed: seed, API: sandbox.APIConfig{File: file, Lists: mockapi.ListsArray}})
			items := many.get(list).list()
			Expect(items).To(HaveLen(mockapi.DefaultItems))
			for _, item := range items {
				detail := n.get(list + "/" + url.PathEscape(item.(map[string]any)["id"].(string)))
				Expect(detail.status).To(Equal(http.StatusOK))
				Expect(detail.json()).To(Equal(item), "the detail is the item of the list")
				judges.expectFits(detail)
			}
		}
	},
		Entry("funding", "funding", "/funding/v1/fundings"),
		Entry("project", "project", "/project/v1/projects"),
		Entry("orgUnit", "orgUnit", "/orgUnit/v1/orgUnits/organigram"),
		Entry("info", "info", "/info/v1/info"),
	)

	It("has filters that select items", func() {
		n := serve(sandbox.APIConfig{File: filepath.Join(publishedFolder(), "funding.json"), Lists: mockapi.ListsArray, Items: 200})
		for parameter, member := range map[string]string{"fundingType": "type", "targetGroup": "targetGroups", "region": "eligibleApplicantsRegions", "applicantsScope": "eligibleApplicantsScope"} {
			value := map[string]string{"fundingType": "PROGRAMME", "targetGroup": "COMPANY", "region": "TYROL", "applicantsScope": "NATIONAL"}[parameter]
			items := n.get("/funding/v1/fundings?" + parameter + "=" + value).list()
			Expect(items).NotTo(BeEmpty(), parameter)
			Expect(len(items)).To(BeNumerically("<", 200))
			for _, item := range items {
				Expect(strings.Fields(fmt.Sprint(item.(map[string]any)[member]))).NotTo(BeEmpty())
				Expect(fmt.Sprint(item.(map[string]any)[member])).To(ContainSubstring(value), parameter)
			}
		}
		funder := n.get("/funding/v1/fundings").list()[3].(map[string]any)["funder"].([]any)[0].(map[string]any)["funder"].(map[string]any)["id"].(string)
		chosen := n.get("/funding/v1/fundings?funderId=" + funder).list()
		Expect(chosen).To(HaveLen(1))
		Expect(fmt.Sprint(chosen[0])).To(ContainSubstring(funder))
		refused := n.get("/funding/v1/fundings?fundingType=GIFT")
		Expect(refused.status).To(Equal(http.StatusBadRequest))
		Expect(refused.object()).To(HaveKeyWithValue("parameter", "fundingType"))
		Expect(refused.object()["allowed"]).To(ContainElement("GRANT"))
	})
})
