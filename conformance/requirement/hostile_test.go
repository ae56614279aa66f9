package requirement_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// FuzzJudge answers every call of the good node in the same foreign way, and lets the body be the document too.
func FuzzJudge(f *testing.F) {
	for _, seed := range []struct {
		status      uint16
		name, value string
		body        string
	}{
		{200, "Content-Type", "application/json", `[{"id":"XA-1"},null,[],{"id":{"id":7}}]`},
		{200, "Content-Type", "text/html", "<html>"},
		{200, "Cache-Control", `public, max-age="`, `{"_embedded":{"fundings":[]},"_links":{},"page":{}}`},
		{401, "WWW-Authenticate", `Bearer error="a", error="b`, `{"openapi":3,"info":[],"paths":{"/a/{":{"get":{"parameters":{}}}}}`},
		{401, "WWW-Authenticate", `,,Bearer =, "`, `{"endpoints":[[[]]]}`},
		{403, "Content-Type", "text/html", "<center>nginx</center>"},
		{302, "Location", "https://[::1", ""},
		{999, "", "", "\xff\xfe"},
	} {
		f.Add(seed.status, seed.name, seed.value, []byte(seed.body), false)
		f.Add(seed.status, seed.name, seed.value, []byte(seed.body), true)
	}
	f.Fuzz(func(t *testing.T, status uint16, name, value string, body []byte, cut bool) {
		s := newStage()
		if err := s.goodNode(); err != nil {
			t.Fatal(err)
		}
		for label, x := range s.exchanges {
			if label.Resource() == evidence.TokenEndpoint {
				continue // without a token everything else would only be blocked
			}
			x.Response = &evidence.Response{Proto: "HTTP/1.1", Status: int(status), Body: body, Size: int64(len(body)), Truncated: cut,
				Header: []evidence.Field{{Name: name, Value: value}}}
			s.exchanges[label] = x
		}
		if json.Valid(body) {
			s.document.Reduced = body
		}
		for id, j := range requirement.JudgeAll(requirement.Catalogue(), requirement.Read(s.evidence())) {
			if j.Outcome != requirement.Pass && j.Reason == "" {
				t.Errorf("%s is %s without a reason", id, j.Outcome)
			}
			if _, err := json.Marshal(j); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

var _ = Describe("Judging evidence that nobody expected", func() {
	catalogue := requirement.Catalogue()

	for seed := range uint64(200) {
		It(fmt.Sprintf("says something of everything, and the same each time (seed %d)", seed), func() {
			s := newStage()
			Expect(s.goodNode()).To(Succeed())
			s.confuse(rand.New(rand.NewPCG(seed, 1)))
			log := s.evidence()
			judged := requirement.JudgeAll(catalogue, requirement.Read(log))
			for _, r := range catalogue {
				j := judged[r.ID]
				Expect(outcomes()).To(ContainElement(j.Outcome), "%s", r.ID)
				explained(j)
				for _, subject := range j.Subjects {
					_, seen := log.Get(subject.Label)
					Expect(seen || j.Outcome != requirement.Fail).To(BeTrue(), "%s fails over %s, which the evidence does not hold", r.ID, subject.Label)
				}
			}
			again := requirement.JudgeAll(catalogue, requirement.Read(log))
			Expect(reflect.DeepEqual(judged, again)).To(BeTrue(), "a second judging differs")
		})
	}
})

// confuse replaces some of the good node's answers by odd ones, drops some, and forgets some of what discovery found.
func (s *stage) confuse(r *rand.Rand) {
	share := r.IntN(10)
	for _, label := range append([]evidence.Label(nil), s.order...) {
		x := s.exchanges[label]
		if r.IntN(10) >= share || label == "token.ok" && r.IntN(3) > 0 {
			continue
		}
		switch r.IntN(8) {
		case 0:
			s.remove(label)
			continue
		case 1:
			s.remove(label)
			kinds := []evidence.NotSentKind{evidence.Unmet, evidence.NotApplicable, evidence.OverBudget, evidence.Stopped}
			s.log.NotSent = append(s.log.NotSent, evidence.NotSent{Label: label, Kind: pick(r, kinds), Because: "of chance"})
			continue
		case 2:
			x.Response, x.Failure = nil, &evidence.Failure{Kind: evidence.FailureTimeout, Message: "no answer within 35 s"}
		case 3:
			x.Redirects = []evidence.Hop{{URL: x.Request.URL, Status: 308, Location: pick(r, oddTexts())}}
			x.Response = oddAnswer(r)
		default:
			x.Response = oddAnswer(r)
		}
		if r.IntN(4) == 0 {
			x.Tokens = nil
		}
		s.exchanges[label] = x
	}
	if r.IntN(4) == 0 {
		s.log.Roles.ProbeTarget = evidence.Resource(pick(r, []string{"", "info", "op/listFundings", "op/gone"}))
	}
	if r.IntN(4) == 0 {
		s.log.Roles.List, s.log.Roles.Detail = "", evidence.Resource(pick(r, []string{"", "op/gone"}))
	}
	if r.IntN(4) == 0 {
		s.document.Reduced = json.RawMessage(pick(r, oddBodies()))
		if !json.Valid(s.document.Reduced) {
			s.document = evidence.Document{Refused: "no JSON"}
		}
	}
}

func oddAnswer(r *rand.Rand) *evidence.Response {
	body := pick(r, oddBodies())
	answer := &evidence.Response{Proto: "HTTP/1.1", Body: evidence.Body(body), Size: int64(len(body)),
		Status:    pick(r, []int{0, 100, 200, 200, 200, 201, 204, 301, 302, 308, 400, 401, 403, 404, 405, 415, 429, 500, 503, 599, 777, 999}),
		Truncated: r.IntN(20) == 0}
	for _, name := range []string{"Content-Type", "WWW-Authenticate", "Cache-Control", "Location", "Pragma", "Allow"} {
		if r.IntN(2) == 0 {
			answer.Header = append(answer.Header, evidence.Field{Name: name, Value: pick(r, oddTexts())})
		}
	}
	return answer
}

func oddTexts() []string {
	return []string{"", " ", ",", "\"", "application/json", "application/json;charset", "text/html", "Bearer", "Bearer error=\"", "Basic realm=a, Bearer x=1",
		"no-store", "public, max-age=\"", "https://[::1", "//elsewhere.example/", "/v1/info", "%zz", "=;=", "\u00fc\u202e", "no-cache, no-store=\"a,b\""}
}

func oddBodies() []string {
	return []string{"", "{}", "[]", "null", "0", "\"x\"", "{", "\xff\xfe", "\ufeff{}", "<html>", "<!DOCTYPE html>",
		`{"access_token":"[[access_token:5f0c6a11:plain]]"}`, `{"access_token":{},"token_type":[],"expires_in":"x"}`,
		`{"access_token":"t","token_type":"x","expires_in":1e400,"scope":3,"refresh_token":[]}`, `{"expires_in":-0.5,"error":{},"error_description":7}`,
		`{"error":"a\"b","error_description":"\u0000"}`, `{"endpoints":[]}`, `{"endpoints":{"a":null,"b":[null,{},{"url":"%zz","majorVersion":1e99}],"c":[[]]}}`,
		`{"endpoints":{"a":[{"name":"","url":"http://[::1","majorVersion":"1"}]}}`, `[{"id":1},{"id":null},[],{}]`, `{"data":[{"id":"XA-1"},{"id":"XA-1"}]}`,
		`{"openapi":"3.0.1","info":{},"paths":{"/a/{b":{"get":{"responses":[]}}}}`, `{"swagger":"2.0","paths":{"":null}}`,
		`{"openapi":"3.0.1","info":{"title":"x","version":"1"},"paths":{"/fundings":{"get":{"operationId":"listFundings","responses":{"200":{"$ref":"#/x"}}}}}}`}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
