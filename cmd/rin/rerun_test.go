package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin certify --rerun-failed", func() {
	It("judges again only what did not pass, for the same profile, and ends as partial", func() {
		_, dir := newNode(nil, "token-status-201").certify("--profile", "auth")
		before := reportIn(dir)
		var notPassed []string
		for _, q := range before.Requirements {
			if q.Outcome != "pass" && q.Outcome != "not-applicable" {
				notPassed = append(notPassed, q.ID)
			}
		}
		Expect(notPassed).To(ContainElement("TOK-02"))

		mended := newNode(nil)
		got, secondDir := mended.certify("--profile", "", "--rerun-failed", filepath.Join(dir, "report.json"))
		Expect(got.err).To(ContainSubstring("judging again what had not passed on "))
		Expect(strings.Join(strings.Fields(got.out), " ")).To(ContainSubstring("Partial run of profile auth: nothing failed in TOK-02. Now certify the whole node"))
		after := reportIn(secondDir)
		Expect(after.Profile).To(Equal("auth"))
		Expect(after.Verdict.Decision).To(Equal("partial"))
		for id, outcome := range after.outcomes() {
			Expect(notPassed).To(ContainElement(id))
			if id == "TOK-02" {
				Expect(outcome).To(Equal("pass"))
			}
		}
	})

	It("fails again on an unchanged node", func() {
		n := newNode(nil, "token-status-201")
		_, dir := n.certify("--only", "TOK-01,TOK-02")
		got, secondDir := n.certify("--rerun-failed", filepath.Join(dir, "report.json"))
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(And(ContainSubstring("Restricted by its operator: --rerun-failed."), Not(ContainSubstring("--only"))))
		Expect(reportIn(secondDir).outcomes()).To(Equal(map[string]string{"TOK-02": "fail"}))
	})

	It("asks again what showed the fault, as --only does", func() {
		n := newNode(nil, "role-not-checked-on-pages")
		_, dir := n.certify("--profile", "funding")
		before := reportIn(dir)
		Expect(before.outcomes()).To(HaveKeyWithValue("BRR-18", "fail"))
		_, secondDir := n.certify("--profile", "", "--rerun-failed", filepath.Join(dir, "report.json"))
		after := reportIn(secondDir)
		Expect(after.outcomes()).To(HaveKeyWithValue("BRR-18", "fail"))
		Expect(after.Made.Seed).To(Equal(before.Made.Seed), "the same values are drawn")

		_, alone := n.certify("--profile", "funding", "--only", "BRR-18")
		Expect(reportIn(alone).outcomes()).To(Equal(map[string]string{"BRR-18": "fail"}))
		Expect(reportIn(alone).Budget.Sent).To(BeNumerically("<", before.Budget.Sent/2))
	})

	It("says that a request that showed a fault could not be repeated", func() {
		_, dir := newNode(nil, "role-not-checked-on-pages").certify("--profile", "funding")
		withoutAnswer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/fundings") {
					http.NotFound(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
		got, _ := newNode(withoutAnswer).certify("--profile", "", "--rerun-failed", filepath.Join(dir, "report.json"))
		Expect(got.err).To(ContainSubstring("that had shown a fault could not be repeated (such as op/findAll.roleless-next): certify the whole node to be sure"))
	})

	It("leaves open what had failed and does not apply to the run that repeats it", func() {
		n := newNode(nil, "role-not-checked-on-pages")
		_, dir := n.certify()
		Expect(reportIn(dir).outcomes()).To(HaveKeyWithValue("BRR-18", "fail"))
		secondDir := GinkgoT().TempDir()
		got := rin(n.env(), "certify", "--report-dir", secondDir, "--rerun-failed", filepath.Join(dir, "report.json"), "--token-url", n.URL+"/oauth/token",
			"--info-url", n.URL+"/ris-synergy/info/v1/oauth/info/", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET", "--spec-url", n.URL+"/ris-synergy/funding/v3/api-docs")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(reportIn(secondDir).outcomes()).To(HaveKeyWithValue("BRR-18", "not-applicable"))
		Expect(got.out).To(MatchRegexp(`BRR-18: asked for, and not judged: no second`))
	})

	It("keeps the report that it reads, where no directory is named", func() {
		n := newNode(nil, "token-status-201")
		dir := GinkgoT().TempDir()
		Expect(rinIn(dir, "", n.env(), append([]string{"certify"}, n.flags("--profile", "auth")...)...).code).To(Equal(1))
		complete := reportIn(filepath.Join(dir, "rin-report")).outcomes()
		got := rinIn(dir, "", n.env(), append([]string{"certify"}, n.flags("--profile", "", "--rerun-failed", "rin-report/report.json")...)...)
		Expect(got.err).To(ContainSubstring("report: rin-report-partial/report.html"))
		Expect(reportIn(filepath.Join(dir, "rin-report")).outcomes()).To(Equal(complete))
		Expect(reportIn(filepath.Join(dir, "rin-report-partial")).outcomes()).To(HaveKeyWithValue("TOK-02", "fail"))

		compared := rinIn(dir, "", nil, "diff", "rin-report", "rin-report-partial")
		Expect(compared.out).NotTo(ContainSubstring("gone"), "the partial run did not ask the others")
	})

	It("names every flag that chose requirements", func() {
		n := newNode(nil, "token-status-201")
		_, dir := n.certify("--only", "TOK-01,TOK-02")
		got, _ := n.certify("--rerun-failed", filepath.Join(dir, "report.json"), "--label-filter", "TOK")
		Expect(got.out).To(ContainSubstring("Restricted by its operator: --rerun-failed and --label-filter."))
	})

	It("refuses a report in which everything passed, and a file that is not a report", func() {
		n := newNode(nil)
		_, dir := n.certify("--only", "TOK-01")
		got, _ := n.certify("--rerun-failed", filepath.Join(dir, "report.json"))
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(And(ContainSubstring("nothing to judge again"), ContainSubstring("hint: ")))

		for _, content := range []string{"<html>", `{"schema":"rin.report/v9"}`} {
			file := filepath.Join(GinkgoT().TempDir(), "report.json")
			Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
			got, _ = n.certify("--rerun-failed", file)
			Expect(got.code).To(Equal(2))
			Expect(got.err).To(And(ContainSubstring("is not a report of rin"), ContainSubstring("hint: ")))
		}
	})
})
