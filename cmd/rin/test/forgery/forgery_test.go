package forgery_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
)

// forgery is one way to edit the files of a run.
type forgery struct {
	name string
	// edit changes the files. The test packs the lines of the evidence again afterwards.
	edit func(r *recorded)
	// step is the verification step that refuses the forgery if nothing is signed; "" for a consistent forgery. If undecided is set, the
	// verification ends with exit code 3.
	step      certificate.Step
	undecided bool
	// place is a part of the place that the refusal names.
	place string
}

const (
	signature = certificate.StepSignature
	files     = certificate.StepFiles
	plan      = certificate.StepPlan
	exchanges = certificate.StepExchanges
	judgement = certificate.StepJudgement
	nowhere   = certificate.Step("")
)

// evidenceForgeries lists forgeries of the evidence and of the report; the claim stays as it was signed.
func evidenceForgeries(other recorded) []forgery {
	return []forgery{
		{name: "a refusal becomes a success", step: judgement, place: "report.json", edit: func(r *recorded) {
			r.replace(r.exchange("info.garbage"), `"status":401`, `"status":200`)
		}},
		{name: "the anonymous call that makes info the probe target succeeds", step: exchanges, place: "roles", edit: func(r *recorded) {
			r.replace(r.exchange("info.no-token"), `"status":401`, `"status":200`)
		}},
		{name: "a body is edited", step: exchanges, place: "evidence.jsonl.gz", edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"body"`, "invalid_client"), "invalid_client", "invalid_clients")
		}},
		{name: "a body is replaced, but not its length on the wire", step: exchanges, edit: func(r *recorded) {
			r.rewriteBody("info.ok", func(body string) string { return body + " " })
			r.editObject(r.exchange("info.ok"), func(o map[string]any) { member(o, "exchange", "response")["wire"] = 265 })
		}},
		{name: "a document is replaced in its answer, but not in the record", step: exchanges, place: `exchange "spec.no-token"`, edit: func(r *recorded) {
			r.rewriteBody("spec.no-token", func(body string) string { return strings.Replace(body, `"integer"`, `"string"`, 1) })
		}},
		{name: "the reduced document is replaced", step: exchanges, place: `exchange "spec.no-token"`, edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"document"`), `"type":"integer"`, `"type":"string"`)
		}},
		{name: "an operation is taken out of the document", step: plan, place: "op/findByKey", edit: func(r *recorded) {
			r.editObject(r.lineWith(`"kind":"document"`), func(o map[string]any) {
				paths := member(o, "document", "reduced", "paths")
				for path := range paths {
					if strings.Contains(path, "{") {
						delete(paths, path)
					}
				}
			})
		}},
		{name: "the document is taken out", step: plan, edit: func(r *recorded) { r.remove(r.lineWith(`"kind":"document"`)) }},
		{name: "an exchange is taken out", step: plan, place: "evidence.jsonl.gz", edit: func(r *recorded) { r.remove(r.exchange("token.wrong-secret")) }},
		{name: "an exchange is taken out of the plan, too", step: plan, place: `label "token.wrong-secret"`, edit: func(r *recorded) {
			r.remove(r.exchange("token.wrong-secret"))
			r.everywhere("plan", `"token.wrong-secret",`, "")
		}},
		{name: "an exchange becomes a request that was not sent", step: judgement, edit: func(r *recorded) {
			line := r.exchange("token.wrong-secret")
			removed := r.lines[line]
			r.lines[line] = fmt.Sprintf(`{"at":%q,"kind":"not-sent","notSent":{"label":"token.wrong-secret","kind":"not-applicable","because":"the operator did not ask for it"}}`+"\n", timeOf(removed))
			r.removeBodies(removed)
		}},
		{name: "an exchange is added", step: plan, place: `label "token.another"`, edit: func(r *recorded) {
			line := r.lines[r.exchange("token.wrong-secret")]
			r.lines = append(r.lines[:r.lineWith(`"kind":"ended"`)], strings.Replace(line, "token.wrong-secret", "token.another", 1), r.lines[len(r.lines)-1])
			r.redateLastButOne()
		}},
		{name: "an exchange is added to the plan, too", step: plan, place: `label "token.another"`, edit: func(r *recorded) {
			line := r.lines[r.exchange("token.wrong-secret")]
			r.replace(r.lineWith(`"kind":"plan"`), `"plan":[`, `"plan":["token.another",`)
			r.lines = append(r.lines[:r.lineWith(`"kind":"ended"`)], strings.Replace(line, "token.wrong-secret", "token.another", 1), r.lines[len(r.lines)-1])
			r.redateLastButOne()
		}},
		{name: "an exchange comes twice", step: exchanges, edit: func(r *recorded) {
			line := r.lines[r.exchange("token.wrong-secret")]
			r.lines = append(r.lines[:r.lineWith(`"kind":"ended"`)], line, r.lines[len(r.lines)-1])
			r.redateLastButOne()
		}},
		{name: "an exchange of another node takes the place of one", step: exchanges, place: `exchange "info.garbage"`, edit: func(r *recorded) {
			line, foreign := r.exchange("info.garbage"), other.lines[other.exchange("info.garbage")]
			r.editObject(line, func(o map[string]any) {
				var from map[string]any
				Expect(json.Unmarshal([]byte(foreign), &from)).To(Succeed())
				member(o, "exchange")["request"] = member(from, "exchange", "request")
			})
		}},
		{name: "the whole evidence is that of another node", step: judgement, edit: func(r *recorded) { r.lines = other.lines }},
		{name: "two records change places", step: exchanges, edit: func(r *recorded) {
			a, b := r.exchange("info.no-token"), r.exchange("info.ok")
			r.lines[a], r.lines[b] = r.lines[b], r.lines[a]
		}},
		{name: "a call with a token is dated before the anonymous one", step: exchanges, place: "order of the exchanges", edit: func(r *recorded) {
			r.editObject(r.exchange("op/findAll.ok"), func(o map[string]any) {
				member(o, "exchange")["started"] = startedOf(r.lines[r.exchange("op/findAll.no-token")])
			})
		}},
		{name: "a call ends before it began", step: exchanges, edit: func(r *recorded) {
			r.replace(r.exchange("info.ok"), `"durationNs":`, `"durationNs":-`)
		}},
		{name: "a call ended after its record was written", step: exchanges, edit: func(r *recorded) {
			r.replace(r.exchange("info.ok"), `"durationNs":`, `"durationNs":99999`)
		}},
		{name: "a call began before the run", step: exchanges, edit: func(r *recorded) {
			r.editObject(r.exchange("info.ok"), func(o map[string]any) { member(o, "exchange")["started"] = "2020-01-01T00:00:00Z" })
		}},
		{name: "the run began a day earlier", step: exchanges, edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) { run["started"] = shifted(run["started"], -24*time.Hour) })
		}},
		{name: "the run began a millisecond later in its last description", step: exchanges, edit: func(r *recorded) {
			i := len(r.lines)
			for i--; !strings.Contains(r.lines[i], `"kind":"run"`); i-- { // the last one
			}
			r.editObject(i, func(o map[string]any) {
				member(o, "run")["started"] = shifted(member(o, "run")["started"], time.Millisecond)
			})
		}},
		{name: "all dates move by 30 days", step: judgement, edit: func(r *recorded) { r.moveDates(30 * 24 * time.Hour) }},
		{name: "fewer requests were sent than recorded", step: exchanges, edit: func(r *recorded) {
			r.editObject(r.lineWith(`"kind":"ended"`), func(o map[string]any) { member(o, "ended")["requests"] = 3 })
		}},
		{name: "the run was not complete", step: judgement, edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"ended"`), `"complete":true`, `"complete":false,"cause":"the deadline passed"`)
		}},
		{name: "the end is cut off", step: judgement, edit: func(r *recorded) { r.remove(r.lineWith(`"kind":"ended"`)) }},
		{name: "the differences of an answer are taken out", step: exchanges, place: `exchange "op/findAll.ok"`, edit: func(r *recorded) {
			r.editObject(r.exchange("op/findAll.ok"), func(o map[string]any) { delete(o, "findings") })
		}},
		{name: "the differences of an answer are edited", step: exchanges, place: `exchange "op/findAll.ok"`, edit: func(r *recorded) {
			r.replace(r.exchange("op/findAll.ok"), `"total":0`, `"total":1`)
		}},
		{name: "an answer that was not compared gets differences", step: exchanges, place: `exchange "info.ok"`, edit: func(r *recorded) {
			r.editObject(r.exchange("info.ok"), func(o map[string]any) {
				o["findings"] = []any{map[string]any{"label": "info.ok", "judged": true, "items": 1, "total": 0}}
			})
		}},
		{name: "the registry entry is edited", step: exchanges, place: `exchange "registry.ok"`, edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"registry"`), `"acronym":"MUST"`, `"acronym":"MIST"`)
		}},
		{name: "the digest of the registry document is edited", step: exchanges, place: `exchange "registry.ok"`, edit: func(r *recorded) {
			r.editObject(r.lineWith(`"kind":"registry"`), func(o map[string]any) { member(o, "registryFacts")["digest"] = "sha256:00" })
		}},
		{name: "another probe target", step: plan, edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"roles"`), `"probeTarget":"info"`, `"probeTarget":"op/getApiDocs"`)
		}},
		{name: "another operation is the list", step: exchanges, place: "roles", edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"roles"`), `"list":"op/findAll"`, `"list":"op/findByKey"`)
		}},
		{name: "another seed", step: plan, place: "label", edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) { run["seed"] = "8" })
		}},
		{name: "another seed in one description of the run", step: exchanges, edit: func(r *recorded) {
			r.replace(r.lineWith(`"kind":"run"`), `"seed":"7"`, `"seed":"8"`)
		}},
		{name: "the profile is smaller", step: plan, place: "label", edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) { run["profile"] = "auth" })
		}},
		{name: "the effort is less", step: plan, place: "label", edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) { run["effort"] = "quick" })
		}},
		{name: "no second client was given", step: plan, place: "label", edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) { run["secondClient"] = false })
		}},
		{name: "an earlier run drew some kinds", step: plan, place: "label", edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) {
				all, _ := run["families"].([]any)
				family, _ := all[0].(map[string]any)
				kinds, _ := family["kinds"].([]any)
				family["earlier"] = kinds[:len(kinds)/2]
			})
		}},
		{name: "the families are those of another version", step: plan, undecided: true, edit: func(r *recorded) {
			r.eachRun(func(run map[string]any) {
				all, _ := run["families"].([]any)
				run["families"] = all[1:]
			})
			r.judgeAgain()
		}},
		{name: "the evidence is of a later format", step: plan, undecided: true, edit: func(r *recorded) {
			r.everywhere("run", "rin.evidence/v2", "rin.evidence/v3")
		}},
		{name: "no content coding was removed", step: exchanges, edit: func(r *recorded) {
			r.editObject(r.exchange("spec.no-token"), func(o map[string]any) { delete(member(o, "exchange", "response"), "coding") })
		}},
		{name: "an answer came in fewer bytes", step: exchanges, edit: func(r *recorded) {
			r.editObject(r.exchange("info.ok"), func(o map[string]any) { member(o, "exchange", "response")["wire"] = 12 })
		}},
		{name: "an answer was withheld", step: exchanges, edit: func(r *recorded) {
			r.editObject(r.exchange("info.ok"), func(o map[string]any) { member(o, "exchange", "response")["withheld"] = true })
		}},
		{name: "a token lives shorter", step: judgement, edit: func(r *recorded) {
			r.rewriteBody("token.ok", func(body string) string {
				return regexp.MustCompile(`"expires_in":\d+`).ReplaceAllString(body, `"expires_in":-1`)
			})
		}},
		{name: "the evidence is not evidence", step: exchanges, edit: func(r *recorded) { r.lines = []string{"<html>\n"} }},
		{name: "a body belongs to no exchange", step: exchanges, edit: func(r *recorded) {
			r.lines = append([]string{r.lines[0], `{"kind":"body","body":{"digest":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","size":5,"content":"hello"}}` + "\n"}, r.lines[1:]...)
		}},

		{name: "an outcome in report.json", step: judgement, place: "report.json", edit: func(r *recorded) { r.edit("report.json", `"outcome": "pass"`, `"outcome": "warn"`) }},
		{name: "the decision in report.json", step: judgement, place: "report.json.verdict.decision", edit: func(r *recorded) { r.edit("report.json", `"decision": "certified"`, `"decision": "not-certified"`) }},
		{name: "blanks in report.json", step: judgement, place: "report.json", edit: func(r *recorded) { r.edit("report.json", "\n", "\n ") }},
		{name: "a member twice in report.json", step: judgement, place: "report.json", edit: func(r *recorded) { r.edit("report.json", `"headline":`, `"headline": "", "headline":`) }},
		{name: "the headline in report.html", step: judgement, place: "report.html, line", edit: func(r *recorded) { r.edit("report.html", "Certified for", "Beatified for") }},
		{name: "a line in report.md", step: judgement, place: "report.md, line", edit: func(r *recorded) { r.edit("report.md", "passed", "failed") }},
		{name: "a test in junit.xml", step: judgement, place: "junit.xml, line", edit: func(r *recorded) { r.edit("junit.xml", `failures="0"`, `failures="1"`) }},
		{name: "a report by another catalogue", step: judgement, undecided: true, place: "report.json", edit: func(r *recorded) {
			r.files["report.json"] = regexp.MustCompile(`("catalogue": {\s*"version": )"[^"]*"`).ReplaceAll(r.files["report.json"], []byte(`$1"0.9.0"`))
		}},
		{name: "a report of a later format", step: judgement, undecided: true, place: "report.json", edit: func(r *recorded) { r.edit("report.json", "rin.report/v1", "rin.report/v2") }},
		{name: "a report by another version of rin", step: judgement, undecided: true, place: "report.html", edit: func(r *recorded) { r.edit("report.json", `"version": "test"`, `"version": "v9.9.9"`) }},
		{name: "a report that was judged from other evidence", step: judgement, place: "report.json", edit: func(r *recorded) {
			r.edit("report.json", `"made": {`, `"made": {"judgedAgain": {"file": "evidence.jsonl.gz", "digest": "sha256:00"},`)
		}},
		{name: "a report that is not JSON", step: judgement, place: "report.json", edit: func(r *recorded) { r.files["report.json"] = []byte("certified") }},
		{name: "a lie that all files agree on", step: nowhere, edit: func(r *recorded) {
			r.replace(r.exchange("info.garbage"), `"status":401`, `"status":403`)
			r.judgeAgain()
		}},
		{name: "all dates move by 30 days, in the report, too", step: exchanges, undecided: true, place: "exchange", edit: func(r *recorded) {
			r.moveDates(30 * 24 * time.Hour)
			r.judgeAgain()
		}},
	}
}

var _ = Describe("A forged run", Ordered, func() {
	var run, other recorded
	private, public := newKey()
	BeforeAll(func() {
		run, other = record(), record()
		run.sign(private)
	})

	It("is authentic before it is forged", func() {
		v := run.verify(public)
		Expect(v.State()).To(Equal(certificate.Holds), "%+v", v.Checks)
		Expect(v.SignedBy).To(Equal(certificate.Fingerprint(public)))
		Expect(v.Headline).To(HavePrefix("Certified for profile funding"))
		unsigned := run.clone()
		unsigned.claim = nil
		Expect(unsigned.verify(nil).State()).To(Equal(certificate.Holds))
	})

	It("is refused at the step that it contradicts, and by the signature in any case", func() {
		forgeries := evidenceForgeries(other)
		var wrong []string
		Expect(len(forgeries)).To(BeNumerically(">=", 40))
		for _, f := range forgeries {
			GinkgoWriter.Println(f.name)
			forged := run.clone()
			before := forged.clone()
			f.edit(forged)
			if strings.Join(forged.lines, "") != strings.Join(before.lines, "") && f.step != nowhere {
				forged.pack()
			}
			Expect(forged.files).NotTo(Equal(before.files), f.name)

			withClaim := forged.verify(public)
			Expect(withClaim.State()).To(Equal(certificate.Broken), f.name)
			Expect(firstCheck(withClaim, certificate.Broken).Step).To(Equal(files), f.name)

			forged.claim = nil
			wrong = append(wrong, InterceptGomegaFailures(func() { expectRefusal(forged.verify(nil), f) })...)
		}
		Expect(wrong).To(BeEmpty())
	})

	It("is refused when its URLs were changed to fit the registry entry of another node", func() {
		log, err := evidence.ReadLog(bytes.NewReader(run.files[certificate.EvidenceFile]))
		Expect(err).NotTo(HaveOccurred())
		entry := func(token string) []byte {
			return fmt.Appendf(nil, `[{"id": "XA", "oauth2": %q, "info": %q}]`, token, log.Run.InfoURL)
		}
		verify := func(r recorded, registry []byte) certificate.Verification {
			return certificate.Verify(certificate.Input{Files: r.list(), Registry: registry, Suite: suite})
		}
		Expect(verify(run, entry(log.Run.TokenURL)).State()).To(Equal(certificate.Holds))
		Expect(firstCheck(verify(run, entry(log.Run.TokenURL+"2")), certificate.Broken).Step).To(Equal(certificate.StepEntry))

		forged := run.clone()
		forged.everywhere("run", log.Run.TokenURL+`"`, log.Run.TokenURL+`2"`)
		forged.everywhere("registry", log.Run.TokenURL+`"`, log.Run.TokenURL+`2"`)
		forged.rewriteBody("registry.ok", func(document string) string {
			before := evidence.DigestOf([]byte(document))
			document = strings.ReplaceAll(document, log.Run.TokenURL+`"`, log.Run.TokenURL+`2"`)
			forged.everywhere("registry", before, evidence.DigestOf([]byte(document)))
			return document
		})
		forged.judgeAgain()
		for _, document := range [][]byte{nil, entry(log.Run.TokenURL + "2")} {
			refusal := firstCheck(verify(*forged, document), certificate.Broken)
			Expect(refusal.Step).To(Equal(exchanges), "%+v", refusal)
			Expect(refusal.Place).To(Equal(`exchange "token.ok"`))
		}
	})

	It("has a certificate that names its node even without the run, and is refused if the certificate names another node", func() {
		r, err := certificate.ParseRun(run.list())
		Expect(err).NotTo(HaveOccurred())
		admission := certificate.Admission{Operator: "https://registry.example", Policy: certificate.File{Name: "registry.yaml"}, Created: r.Log.Run.Started}
		certified := func(change func(*certificate.Descriptor)) certificate.Input {
			GinkgoHelper()
			s, err := certificate.NewCertificate(r, admission)
			Expect(err).NotTo(HaveOccurred())
			entry := &s.Subject[len(s.Subject)-1]
			Expect(entry.Name).To(Equal("registry-entry.json"))
			change(entry)
			text, err := certificate.Sign(s.Payload(), private)
			Expect(err).NotTo(HaveOccurred())
			return certificate.Input{Files: run.list(), Key: public, Suite: suite, Envelope: certificate.File{Name: certificate.CertificateFile, Content: text}}
		}
		right := certified(func(*certificate.Descriptor) {})
		Expect(certificate.Verify(right).State()).To(Equal(certificate.Holds))
		right.Files, right.Alone = nil, true
		Expect(certificate.Verify(right).About).To(HaveExactElements(And(HaveField("ID", r.Log.Run.NodeID), HaveField("Name", Not(BeEmpty())), HaveField("InfoURL", r.Log.Run.InfoURL), HaveField("TokenURL", r.Log.Run.TokenURL), HaveField("Profile", "funding"))))

		for name, change := range map[string]func(*certificate.Descriptor){
			"id": func(d *certificate.Descriptor) { d.Annotations["id"] = "XB" }, "name": func(d *certificate.Descriptor) { d.Annotations["name"] = "Another university" },
			"info": func(d *certificate.Descriptor) { d.URI = "https://other.example/info" }, "more": func(d *certificate.Descriptor) { d.Annotations["valid"] = "for ever" },
			"less": func(d *certificate.Descriptor) { delete(d.Annotations, "oauth2") },
		} {
			c := firstCheck(certificate.Verify(certified(change)), certificate.Broken)
			Expect(c).To(And(HaveField("Step", judgement), HaveField("Why", ContainSubstring("its subjects are not those of this run"))), name)
		}

		older := certified(func(d *certificate.Descriptor) { d.URI, d.Annotations = "", nil })
		Expect(certificate.Verify(older).State()).To(Equal(certificate.Holds), "certificates of older versions name no node")
		Expect(certificate.Verify(older).About).To(BeEmpty())
	})

	It("is noticed when a single byte of any file differs", func() {
		for name, content := range run.files {
			for at := int(GinkgoRandomSeed() % 101); at < len(content); at += 1 + len(content)/60 {
				forged := run.clone()
				forged.files[name][at] ^= 1 << (at % 8)
				v := forged.verify(public)
				Expect(firstCheck(v, certificate.Broken).Step).To(Equal(files), "byte %d of %s", at, name)
				Expect(firstCheck(v, certificate.Broken).Place).To(Equal(name))
			}
		}
		for at := range run.claim {
			forged := run.clone()
			forged.claim[at] ^= 1 << (at % 8)
			Expect(firstCheck(forged.verify(public), certificate.Broken).Step).To(Equal(signature), "byte %d of the claim", at)
		}
	})

	It("is refused when a file is missing, added or cut", func() {
		for name := range run.files {
			forged := run.clone()
			forged.files[name] = forged.files[name][:len(forged.files[name])-1]
			Expect(firstCheck(forged.verify(public), certificate.Broken)).To(HaveField("Place", name))
			if name != certificate.EvidenceFile {
				delete(forged.files, name)
				Expect(firstCheck(forged.verify(public), certificate.Broken)).To(And(HaveField("Step", files), HaveField("Place", name)))
			}
		}
		forged := run.clone()
		forged.files["exchanges.har"] = []byte("{}")
		Expect(firstCheck(forged.verify(public), certificate.Broken)).To(And(HaveField("Step", files), HaveField("Place", "exchanges.har")))
	})

	It("is refused when its envelope or its statement is changed", func() {
		_, stranger := newKey()
		strangerKey, _ := newKey()
		var wrong []string
		for _, f := range claimForgeries(run, other, private, strangerKey) {
			GinkgoWriter.Println(f.name)
			forged := run.clone()
			f.edit(forged)
			Expect(forged.claim).NotTo(Equal(run.claim), f.name)
			wrong = append(wrong, InterceptGomegaFailures(func() { expectRefusal(forged.verify(public), f) })...)
		}
		Expect(wrong).To(BeEmpty())
		Expect(firstCheck(run.verify(stranger), certificate.Broken).Step).To(Equal(signature))
		without := run.clone()
		without.claim = nil
		Expect(without.verify(public).State()).To(Equal(certificate.Undecided), "a claim was taken away")
		unread := run.verify(nil)
		Expect(unread.State()).To(Equal(certificate.Holds))
		Expect(unread.SignedBy).To(BeEmpty())
	})
})

func firstCheck(v certificate.Verification, s certificate.State) certificate.Check {
	c, _ := v.First(s)
	return c
}

func expectRefusal(v certificate.Verification, f forgery) {
	GinkgoHelper()
	want := certificate.Broken
	switch {
	case f.undecided:
		want = certificate.Undecided
	case f.step == nowhere:
		want = certificate.Holds
	}
	Expect(v.State()).To(Equal(want), "%s: %+v", f.name, v.Checks)
	if f.step != nowhere {
		c := firstCheck(v, want)
		Expect(c.Step).To(Equal(f.step), "%s: %+v", f.name, v.Checks)
		Expect(c.Place).To(ContainSubstring(f.place), f.name)
		Expect(c.Why).NotTo(BeEmpty(), f.name)
	}
}

// edit changes the first occurrence of a text in a file.
func (r *recorded) edit(name, from, to string) {
	GinkgoHelper()
	Expect(string(r.files[name])).To(ContainSubstring(from))
	r.files[name] = bytes.Replace(r.files[name], []byte(from), []byte(to), 1)
}

func timeOf(line string) string {
	GinkgoHelper()
	var record struct{ At string }
	Expect(json.Unmarshal([]byte(line), &record)).To(Succeed())
	return record.At
}

func startedOf(line string) string {
	GinkgoHelper()
	var record struct{ Exchange struct{ Started string } }
	Expect(json.Unmarshal([]byte(line), &record)).To(Succeed())
	return record.Exchange.Started
}

func shifted(text any, by time.Duration) string {
	GinkgoHelper()
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(text))
	Expect(err).NotTo(HaveOccurred())
	return at.Add(by).Format(time.RFC3339Nano)
}

// eachRun changes all descriptions of the run.
func (r *recorded) eachRun(change func(run map[string]any)) {
	GinkgoHelper()
	for i, line := range r.lines {
		if strings.Contains(line, `"kind":"run"`) {
			r.editObject(i, func(o map[string]any) { change(member(o, "run")) })
		}
	}
}

// redateLastButOne sets the time of the last record but one to that of the last record.
func (r *recorded) redateLastButOne() {
	GinkgoHelper()
	last := len(r.lines) - 1
	r.editObject(last-1, func(o map[string]any) { o["at"] = timeOf(r.lines[last]) })
}

// moveDates moves every time of the evidence, except those that the node sent.
func (r *recorded) moveDates(by time.Duration) {
	GinkgoHelper()
	dates := regexp.MustCompile(`"(at|started)":"([^"]+)"`)
	for i, line := range r.lines {
		if strings.HasPrefix(line, `{"kind":"body"`) {
			continue
		}
		r.lines[i] = dates.ReplaceAllStringFunc(line, func(found string) string {
			m := dates.FindStringSubmatch(found)
			return fmt.Sprintf(`"%s":"%s"`, m[1], shifted(m[2], by))
		})
	}
}
