package forgery_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
)

// claimForgeries lists forgeries of the claim. After an edit of its statement the claim is signed again with the right key: it must be refused even
// if the signature is good.
func claimForgeries(run, other recorded, key, stranger ed25519.PrivateKey) []forgery {
	// envelope edits the text of the envelope.
	envelope := func(from, to string) func(*recorded) {
		return func(r *recorded) {
			Expect(string(r.claim)).To(ContainSubstring(from))
			r.claim = bytes.Replace(r.claim, []byte(from), []byte(to), 1)
		}
	}
	// statement edits the statement and signs it again.
	statement := func(change func(s *certificate.Statement[certificate.TestResult])) func(*recorded) {
		return func(r *recorded) {
			s := run.statement()
			change(&s)
			r.claim = signed(s, key)
		}
	}
	// payload edits the text of the statement and signs it again.
	payload := func(from, to string) func(*recorded) {
		return func(r *recorded) {
			text := string(run.statement().Payload())
			Expect(text).To(ContainSubstring(from))
			claim, err := certificate.Sign([]byte(strings.Replace(text, from, to, 1)), key)
			Expect(err).NotTo(HaveOccurred())
			r.claim = claim
		}
	}
	const kind = `"payloadType":"application/vnd.in-toto+json"`
	return []forgery{
		{name: "signed by another key", step: signature, place: certificate.ClaimFile, edit: func(r *recorded) { r.sign(stranger) }},
		{name: "the claim of another run", step: files, edit: func(r *recorded) {
			foreign := other.clone()
			foreign.sign(key)
			r.claim = foreign.claim
		}},
		{name: "an empty payload type", step: signature, edit: envelope(kind, `"payloadType":""`)},
		{name: "another payload type", step: signature, edit: envelope(kind, `"payloadType":"text/plain"`)},
		{name: "no payload type", step: signature, edit: envelope(kind+",", "")},
		{name: "a key id", step: signature, edit: envelope(`"signatures":[{`, `"signatures":[{"keyid":"",`)},
		{name: "a second signature", step: signature, edit: envelope(`"signatures":[`, `"signatures":[{"sig":"AAAA"},`)},
		{name: "no signature", step: signature, edit: func(r *recorded) {
			var e map[string]any
			Expect(json.Unmarshal(r.claim, &e)).To(Succeed())
			e["signatures"] = []any{}
			r.claim, _ = json.Marshal(e)
		}},
		{name: "one member more", step: signature, edit: envelope("{", `{"note":"",`)},
		{name: "a member twice", step: signature, edit: envelope("{", `{"payload":"",`)},
		{name: "a member in upper case", step: signature, edit: envelope(`"payload":`, `"Payload":`)},
		{name: "a blank", step: signature, edit: envelope(`,"payload"`, `, "payload"`)},
		{name: "one line more", step: signature, edit: func(r *recorded) { r.claim = append(r.claim, '\n') }},
		{name: "base64 for URLs", step: signature, edit: func(r *recorded) {
			text := base64.StdEncoding.EncodeToString(run.statement().Payload())
			r.claim = bytes.Replace(r.claim, []byte(text), []byte(strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(text), "=")), 1)
			if bytes.Equal(r.claim, run.claim) {
				r.claim = bytes.Replace(r.claim, []byte(text), []byte(text+"="), 1)
			}
		}},
		{name: "not JSON", step: signature, edit: func(r *recorded) { r.claim = []byte("certified") }},
		{name: "the predicate has one member more", step: signature, place: certificate.ClaimFile, edit: payload(`"predicate":{`, `"predicate":{"expires":"2030-01-01T00:00:00Z",`)},
		{name: "the statement has one member more", step: signature, edit: payload(`{"_type"`, `{"valid":true,"_type"`)},
		{name: "the result twice", step: signature, edit: payload(`"result":"PASSED"`, `"result":"PASSED","result":"PASSED"`)},
		{name: "blanks in the statement", step: signature, edit: payload(`,"predicate"`, `, "predicate"`)},
		{name: "another type of statement", step: signature, edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Type = "https://in-toto.io/Statement/v0.1" })},
		{name: "another type of predicate", step: signature, edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.PredicateType = "https://slsa.dev/verification_summary/v1"
		})},
		{name: "a claim that calls itself a certificate", step: signature, edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.PredicateType = certificate.VerifiedByType })},
		{name: "a failed result", step: judgement, place: "predicate.result", edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Predicate.Result = certificate.Failed })},
		{name: "a requirement that was not judged", step: judgement, place: "predicate.passedTests", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Predicate.PassedTests = append(s.Predicate.PassedTests, "SEC-07")
		})},
		{name: "another configuration", step: judgement, place: "predicate.configuration", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Predicate.Configuration[2].Annotations["effort"] = "deep"
		})},
		{name: "no configuration", step: judgement, place: "predicate.configuration", edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Predicate.Configuration = nil })},
		{name: "another digest", step: files, place: "report.md", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			for i, d := range s.Subject {
				if d.Name == "report.md" {
					s.Subject[i].Digest = certificate.DigestOf(nil)
				}
			}
		})},
		{name: "one subject less", step: files, place: "evidence.jsonl.gz", edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Subject = s.Subject[1:] })},
		{name: "a subject twice", step: files, edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Subject = append(s.Subject, s.Subject[0]) })},
		{name: "a subject whose file is missing", step: files, place: "other.txt", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Subject = append(s.Subject, certificate.Descriptor{Name: "other.txt", Digest: certificate.DigestOf(nil)})
		})},
		{name: "a subject without a digest", step: files, edit: statement(func(s *certificate.Statement[certificate.TestResult]) { s.Subject[0].Digest = nil })},
		{name: "another document", step: exchanges, place: "reduced-document.json", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Subject[len(s.Subject)-2].Digest = certificate.DigestOf(nil)
		})},
		{name: "another registry entry", step: exchanges, place: "registry-entry.json", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Subject[len(s.Subject)-1].Digest = certificate.DigestOf(nil)
		})},
		{name: "no document", step: judgement, place: "subject", edit: statement(func(s *certificate.Statement[certificate.TestResult]) {
			s.Subject = append(s.Subject[:len(s.Subject)-2], s.Subject[len(s.Subject)-1])
		})},
	}
}
