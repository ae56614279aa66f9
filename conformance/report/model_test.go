package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("New", func() {
	It("names profile, versions, date, URLs and counts", func() {
		r, _ := small()
		Expect(r.Schema).To(Equal("rin.report/v1"))
		Expect(r.Profile).To(Equal(requirement.Funding))
		Expect(r.Suite).To(Equal(report.Suite{Name: "rin", Version: version, RecordedBy: version, Matrix: verdict.RecordedMatrix().Score(), Contact: verdict.LastContact()}))
		Expect(r.Catalogue.Version).To(Equal(requirement.Version))
		Expect(r.Date).To(Equal(noon()))
		Expect(r.Target.TokenURL).To(Equal("https://auth.node.example/oauth/token"))
		Expect(r.Totals).To(Equal(verdict.Totals{Pass: 2, Warn: 1, Fail: 3, NotApplicable: 1, Blocked: 1, Inconclusive: 1}))
		Expect(r.Notes).To(ContainElement(ContainSubstring("This is a snapshot")))
		Expect(r.Verdict.Decision).To(Equal(verdict.NotCertified))
	})

	It("names in the headline which address stopped answering, and what to do", func() {
		log := smallLog()
		const cause = "https://api.node.example stopped answering: 2 requests in a row"
		log.NotSent = append(log.NotSent, evidence.NotSent{Label: "op/getFunding.ok", Kind: evidence.Stopped, Because: cause})
		judged := map[requirement.ID]requirement.Judgement{}
		for id := range smallJudgements() {
			judged[id] = requirement.Unclear(cause).Hinting("Find out why")
		}
		r := reportOf(log, judged)
		Expect(r.Verdict.Headline).To(Equal("Not certified for profile funding yet: https://api.node.example stopped answering"))
		Expect(r.Verdict.Reasons[0].Text).To(HavePrefix(cause))
		Expect(write(formats()["80.txt"], r, log)).To(ContainSubstring("Find out why"))
	})

	It("says in the headline that only requests with credentials are no longer answered", func() {
		log := smallLog()
		const cause = "https://api.node.example stopped answering requests with credentials: 2 requests in a row"
		log.NotSent = append(log.NotSent, evidence.NotSent{Label: "op/getFunding.ok", Kind: evidence.Stopped, Because: cause})
		judged := map[requirement.ID]requirement.Judgement{}
		for id := range smallJudgements() {
			judged[id] = requirement.Unclear(cause)
		}
		r := reportOf(log, judged)
		Expect(r.Verdict.Headline).To(Equal("Not certified for profile funding yet: https://api.node.example stopped answering requests with credentials"))
	})

	It("names in the headline of a certificate what was compared with nothing, two operations of many, and nothing for the profile auth", func() {
		headline := func(change func(log *evidence.Log)) string {
			log, judged := smallLog(), map[requirement.ID]requirement.Judgement{}
			log.NotSent, log.Planned = nil, nil
			for id := range smallJudgements() {
				judged[id] = requirement.Passed("token.ok")
			}
			judged["BRR-01"] = requirement.Passed("info.no-token")
			change(log)
			return reportOf(log, judged).Verdict.Headline
		}
		describe := func(log *evidence.Log, schema string, paths ...string) {
			document := map[string]any{}
			log.Roles.Operations = nil
			for _, path := range paths {
				o := evidence.OperationResource(strings.Trim(path, "/"))
				log.Roles.Operations = append(log.Roles.Operations, o)
				log.Exchanges = append(log.Exchanges, call(o.With(evidence.OK), "GET", "https://api.node.example"+path, 200, "[]"))
				document[path] = json.RawMessage(`{"get":{"operationId":"` + strings.Trim(path, "/") + `","responses":{"200":{"description":"ok","content":{"application/json":{"schema":` + schema + `}}}}}}`)
			}
			reduced, err := json.Marshal(map[string]any{"openapi": "3.0.1", "info": map[string]any{"title": "F", "version": "3"}, "paths": document})
			Expect(err).NotTo(HaveOccurred())
			log.Document.Reduced = reduced
		}
		Expect(headline(func(log *evidence.Log) {
			describe(log, `{"type":"array","items":{"type":"object","required":["id"]}}`, "/a")
		})).To(Equal("Certified for profile funding"))
		Expect(headline(func(log *evidence.Log) { describe(log, `{}`, "/a") })).To(Equal("Certified for profile funding; compared with nothing: GET /a"))
		Expect(headline(func(log *evidence.Log) { describe(log, `{}`, "/a", "/b", "/c") })).To(Equal("Certified for profile funding; compared with nothing: GET /a, GET /b and 1 more"))
		Expect(headline(func(log *evidence.Log) { describe(log, `{}`, "/a"); log.Run.Profile = "api" })).To(Equal("Certified for profile api; compared with nothing: GET /a"))
		Expect(headline(func(log *evidence.Log) { describe(log, `{}`, "/a"); log.Run.Profile = "auth" })).To(Equal("Certified for profile auth"))
	})

	It("says in the headline of a certificate, for the profile auth as well, that nothing of what info lists was called", func() {
		headline := func(profile, list string, calls ...evidence.Exchange) string {
			log, judged := smallLog(), map[requirement.ID]requirement.Judgement{}
			log.NotSent, log.Planned, log.Run.Profile = nil, nil, profile
			for _, r := range requirement.Catalogue() {
				judged[r.ID] = requirement.Passed("token.ok")
			}
			log.Exchanges = slices.DeleteFunc(log.Exchanges, func(x evidence.Exchange) bool { return x.Label == "info.ok" || x.Label == "token.ok" })
			log.Exchanges = append(log.Exchanges, call("token.ok", "POST", "https://sso.node.example/token", 200, `{"access_token":"[[access_token:1:plain]]","token_type":"Bearer"}`))
			log.Exchanges = append(log.Exchanges, call("info.ok", "GET", log.Run.InfoURL, 200, `{"endpoints":{"funding":[`+list+`]}}`))
			log.Exchanges = append(log.Exchanges, calls...)
			read := requirement.Read(log)
			judged["INF-05"] = requirement.JudgeAll(requirement.Catalogue(), read)["INF-05"]
			return report.New(verdict.Decide(requirement.Catalogue(), judged, log, nil), read, version).Verdict.Headline
		}
		const listed = `{"name":"FUNDINGS","majorVersion":3,"minorVersion":0,"url":"https://api.node.example/v3/fundings"}`
		answered := call("endpoint/1.ok", "GET", "https://api.node.example/v3/fundings", 200, "[]")
		refused := answered
		refused.Response, refused.Failure = nil, &evidence.Failure{Kind: evidence.FailureRefused, Message: "the origin is not allowed"}
		for _, profile := range []string{"auth", "funding"} {
			Expect(headline(profile, "")).To(Equal("Certified for profile " + profile + "; info lists no endpoints"))
			Expect(headline(profile, listed, refused)).To(Equal("Certified for profile " + profile + "; no endpoint that info lists was called"))
			Expect(headline(profile, listed, answered)).To(Equal("Certified for profile " + profile))
			dead := call("endpoint/1.ok", "GET", "https://api.node.example/v3/fundings", 404, "")
			Expect(headline(profile, listed, dead)).To(Equal("Certified for profile " + profile + "; an endpoint that info lists is wrong (INF-05)"))
		}
	})

	It("notes that the run slowed down", func() {
		log := smallLog()
		log.Ended.Slowdown = &evidence.Slowdown{Refusals: 4, Status: 503, Rate: 4.56}
		r := reportOf(log, smallJudgements())
		Expect(r.Notes).To(ContainElement("The node refused 4 requests for load (503), so rin slowed down; at the end it sent at most 4.56 a second."))
	})

	It("names the hop of a redirect that was followed", func() {
		log := smallLog()
		log.Exchanges[0].Redirects = []evidence.Hop{{URL: log.Exchanges[0].Request.URL, Status: 307, Location: "/other"}}
		r := reportOf(log, smallJudgements())
		Expect(r.Requirements).To(ContainElement(HaveField("Seen", "POST https://auth.node.example/oauth/token: 307 to /other, then 200")))
	})

	DescribeTable("says in the headline what to do, and to repeat the run only where that helps",
		func(says string, change func(log *evidence.Log, judged map[requirement.ID]requirement.Judgement)) {
			log, judged := smallLog(), map[requirement.ID]requirement.Judgement{}
			for id := range smallJudgements() {
				judged[id] = requirement.Passed()
			}
			change(log, judged)
			rows := append(smallCatalogue(), row("ISO-03", "A token for another audience is refused", requirement.Advice, requirement.Full, requirement.RFC(9068, "4"), "", ""))
			r := report.New(verdict.Decide(rows, judged, log, nil), requirement.Read(log), version)
			Expect(r.Verdict.Headline).To(Equal("Not certified for profile " + log.Run.Profile + " yet: " + says))
		},
		Entry("no answer", "repeat the run", func(_ *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			judged["TER-08"] = requirement.Unclear("no answer to the token request: connection reset")
		}),
		Entry("no answer from an address, and no protected resource", "make https://auth.node.example answer this machine, or correct --token-url", func(log *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			log.Roles.ProbeTarget = ""
			judged["TOK-01"] = requirement.Unclear("no answer").Hinting("make https://auth.node.example answer this machine, or correct --token-url; is its server running?")
		}),
		Entry("the deadline passed because of a limit", "raise the limit", func(log *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			log.Ended = &evidence.Ended{Cause: "the deadline of the run passed"}
			judged["TER-08"] = requirement.Unclear("the node limits the rate of requests (429)").Hinting("raise the limit, then repeat the run")
		}),
		Entry("the blocking requirement does not apply", "put data into the node", func(_ *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			judged["API-04"] = requirement.Inapplicable("nothing to judge")
			judged["API-05"] = requirement.Judgement{Outcome: requirement.Blocked, BlockedBy: "API-04", Reason: "needs API-04"}
			judged["TER-08"] = requirement.Unclear("no data").Hinting("put data into the node")
		}),
		Entry("the cause is known", "lower --rate or raise the limit for this client", func(_ *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			judged["TER-08"] = requirement.Unclear("the node limits the rate of requests (429)").Hinting("lower --rate or raise the limit for this client, then repeat the run")
			judged["TER-02"] = requirement.Unclear("no answer to the token request: connection reset")
		}),
		Entry("the blocking requirement is open", "put funding calls into the tested system", func(_ *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			judged["API-04"] = requirement.Unclear("the list is empty").Hinting("Put funding calls into the tested system, then repeat the run")
			judged["API-05"] = requirement.Judgement{Outcome: requirement.Blocked, BlockedBy: "API-04", Reason: "needs API-04"}
		}),
		Entry("two causes", "raise the limit (and 1 more to do)", func(_ *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			judged["TER-02"] = requirement.Unclear("the node limits requests").Hinting("raise the limit; then go on")
			judged["TER-08"] = requirement.Unclear("no data").Hinting("put data into the node")
		}),
		Entry("no protected resource", "let a resource refuse calls without a token", func(log *evidence.Log, _ map[requirement.ID]requirement.Judgement) {
			log.Roles.ProbeTarget = ""
		}),
		Entry("the deadline", "give a longer --deadline", func(log *evidence.Log, _ map[requirement.ID]requirement.Judgement) {
			log.Ended = &evidence.Ended{Cause: "the deadline of the run passed"}
		}),
		Entry("an interruption", "repeat the run", func(log *evidence.Log, _ map[requirement.ID]requirement.Judgement) {
			log.Ended = &evidence.Ended{Cause: "context canceled"}
		}),
		Entry("an input that the profile needs", "give --other-client-id", func(log *evidence.Log, judged map[requirement.ID]requirement.Judgement) {
			log.Run.Profile = "full"
			judged["ISO-03"] = requirement.Inapplicable("no client of another audience was given (--other-client-id)")
		}),
	)

	It("gives a curl command for exactly the outcomes that need attention", func() {
		r, _ := small()
		for _, q := range r.Requirements {
			wanted := slices.Contains([]requirement.Outcome{requirement.Fail, requirement.Warn, requirement.Inconclusive}, q.Outcome)
			Expect(q.Curl != "").To(Equal(wanted), string(q.ID))
			if wanted {
				Expect(q.Curl).To(HavePrefix("curl "))
			}
		}
	})

	It("prefers the hint for the particular cause to the general fix", func() {
		r, _ := small()
		fix := map[requirement.ID]string{}
		for _, q := range r.Requirements {
			fix[q.ID] = q.Fix
		}
		Expect(fix["TER-02"]).To(ContainSubstring("Keycloak"))
		Expect(fix["TOK-06"]).To(ContainSubstring("no-store"))
		Expect(fix["TOK-01"]).To(BeEmpty(), "nothing to fix")
	})

	It("says which operations were executed, and why others were not", func() {
		r, _ := small()
		Expect(r.Operations.Documented).To(Equal(3))
		Expect(r.Operations.Executed).To(Equal(1))
		because := map[string]string{}
		for _, o := range r.Operations.List {
			because[o.ID] = o.Because
		}
		Expect(because).To(Equal(map[string]string{
			"listFundings": "",
			"addFunding":   "only GET is executed on operations",
			"getFunding":   "the list holds no item with an id",
		}))
	})

	It("counts no operation as executed that was only found", func() {
		log := smallLog()
		log.Run.Partial, log.Exchanges = "--only TOK-01", log.Exchanges[:1]
		r := reportOf(log, smallJudgements())
		Expect(r.Operations.Executed).To(BeZero())
		Expect(r.Operations.List[0].Because).To(Equal("the run was restricted: --only TOK-01"))
	})

	It("takes user and password out of URLs", func() {
		log := smallLog()
		log.Run.TokenURL = "https://user:geheim@auth.node.example/token"
		r := reportOf(log, smallJudgements())
		Expect(r.Target.TokenURL).To(Equal("https://auth.node.example/token"))
	})

	It("cuts very long lists of subjects and says so", func() {
		log, judged := smallLog(), smallJudgements()
		j := judged["API-04"]
		for len(j.Subjects) < 1234 {
			j.Subjects = append(j.Subjects, requirement.Subject{Name: "$[9].id", Label: "op/listFundings.ok", Got: "missing"})
		}
		judged["API-04"] = j
		r := reportOf(log, judged)
		for _, q := range r.Requirements {
			if q.ID == "API-04" {
				Expect(len(q.Subjects) + q.SubjectsCut).To(Equal(1234))
				Expect(q.SubjectsCut).To(BeNumerically(">", 0))
			}
		}
		for name, f := range reportFormats() {
			if strings.HasPrefix(name, "80") || name == "report.html" {
				Expect(write(f, r, log)).To(MatchRegexp(`and 1\d{3} more`), name)
			}
		}
	})

	It("says that a run was cut off", func() {
		log := smallLog()
		log.Ended = nil
		r := reportOf(log, smallJudgements())
		Expect(r.Run.Complete).To(BeFalse())
		Expect(r.Run.Cause).NotTo(BeEmpty())
		Expect(r.Budget.Sent).To(Equal(8), "attempts of what was recorded")
	})

	It("writes one more reason in the singular", func() {
		r, _ := small()
		r.Verdict.Reasons = slices.Repeat(r.Verdict.Reasons[:1], 13)
		var out strings.Builder
		Expect(report.WriteText(&out, r, report.TextOptions{})).To(Succeed())
		Expect(out.String()).To(ContainSubstring("and 1 more reason, see above"))
	})

	It("says in every format beside a certificate that failed advice costs only the profile full", func() {
		log, judged := smallLog(), smallJudgements()
		for id := range judged {
			if id != "TOK-13" {
				judged[id] = requirement.Passed("token.ok")
			}
		}
		r := reportOf(log, judged)
		Expect(r.Verdict.Decision).To(Equal(verdict.Certified))
		for name, f := range reportFormats() {
			if strings.HasSuffix(name, "json") {
				continue
			}
			text := write(f, r, log)
			Expect(strings.Join(strings.Fields(text), " ")).To(ContainSubstring("1 failed (advice, costs only the profile full)"), name)
			Expect(text).NotTo(Or(ContainSubstring("✗"), ContainSubstring(`<rect class="fail"`)), name+": the cross is for what costs the certificate")
		}
	})

	It("says in every format what the suite is known to notice", func() {
		r, log := small()
		for name, f := range reportFormats() {
			text := strings.Join(strings.Fields(write(f, r, log)), " ")
			Expect(text).To(Or(
				ContainSubstring(r.MatrixSentence()), ContainSubstring(r.Suite.Matrix.String()),
				ContainSubstring(fmt.Sprintf(`"matrix": { "deviations": %d, "noticed": %d`, r.Suite.Matrix.Deviations, r.Suite.Matrix.Noticed)),
			), name)
		}
	})

	It("says in every format what the suite noticed in nodes that it had never tested, after the first round of first contact", func() {
		for name, f := range reportFormats() {
			r, log := small()
			r.Suite.Contact = nil
			Expect(strings.Join(strings.Fields(write(f, r, log)), " ")).NotTo(Or(ContainSubstring("first contact"), ContainSubstring(`"contact"`)), name)
			r.Suite.Contact = &verdict.Contact{Round: 7, Wrong: 40, Caught: 27, Otherwise: 2, Open: 1, Missed: 10, Right: 20, Certified: 18, Blamed: 1, Inconclusive: 1}
			Expect(strings.Join(strings.Fields(write(f, r, log)), " ")).To(Or(
				ContainSubstring(r.ContactSentence()), ContainSubstring(r.Suite.Contact.String()), ContainSubstring(`"contact": { "round": 7`),
			), name)
		}
	})

	It("shows known failures as known, with the reason, and asks to correct the baseline", func() {
		r, log := excused()
		Expect(r.Verdict.Decision).To(Equal(verdict.Partial))
		Expect(r.Run.Baseline).To(HaveValue(Equal(report.Baseline{
			Known: []requirement.ID{"API-04"}, Passed: []requirement.ID{"TOK-01"}, Expired: []requirement.ID{"TOK-06"}, NotJudged: []requirement.ID{},
		})))
		for name, f := range reportFormats() {
			if name == "report.json" || strings.HasPrefix(name, "40") {
				continue
			}
			text := strings.NewReplacer(`\`, "", "\x1b[0m", "").Replace(strings.Join(strings.Fields(write(f, r, log)), " "))
			Expect(text).To(ContainSubstring("known until 2026-12-31"), name)
			Expect(text).To(ContainSubstring("and it passed: remove the entry"), name)
			Expect(text).To(ContainSubstring("the excuse of the baseline ended on 2026-03-01"), name)
			Expect(text).NotTo(ContainSubstring("Certified for"), name)
		}
	})
})

var _ = Describe("JSON", func() {
	compile := func() *jsonschema.Schema {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema()))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.AddResource("report.json", doc)).To(Succeed())
		return c.MustCompile("report.json")
	}
	validate := func(r report.Report) error {
		var b bytes.Buffer
		Expect(report.WriteJSON(&b, r)).To(Succeed())
		v, err := jsonschema.UnmarshalJSON(&b)
		Expect(err).NotTo(HaveOccurred())
		return compile().Validate(v)
	}

	It("conforms to its schema", func() {
		for _, make := range []func() (report.Report, *evidence.Log){small, good, empty, excused, made} {
			r, _ := make()
			Expect(validate(r)).To(Succeed())
		}
	})

	It("has a schema that refuses invalid reports", func() {
		r, _ := small()
		r.Requirements[1].Outcome = "splendid"
		Expect(validate(r)).NotTo(Succeed())
		r, _ = small()
		r.Requirements[1].Reason = ""
		Expect(validate(r)).NotTo(Succeed())
		r, _ = small()
		r.Verdict.Headline = ""
		Expect(validate(r)).NotTo(Succeed())
	})

	It("can be read again without loss", func() {
		for _, make := range []func() (report.Report, *evidence.Log){small, good, hostile, excused} {
			r, _ := make()
			var b bytes.Buffer
			Expect(report.WriteJSON(&b, r)).To(Succeed())
			back, err := report.ReadJSON(&b)
			Expect(err).NotTo(HaveOccurred())
			want, err := json.Marshal(r)
			Expect(err).NotTo(HaveOccurred())
			Expect(json.Marshal(back)).To(MatchJSON(want))
		}
	})

	It("refuses another version, and text that is not a report", func() {
		_, err := report.ReadJSON(strings.NewReader(`{"schema":"rin.report/v9"}`))
		Expect(err).To(MatchError(ContainSubstring("rin.report/v1")))
		_, err = report.ReadJSON(strings.NewReader(`<html>`))
		Expect(err).To(MatchError(ContainSubstring("read report")))
	})
})
