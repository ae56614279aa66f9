package requirement_test

import (
	"encoding/json"
	"testing"

	"github.com/rin-network/rin/conformance/exchange"
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
			if label.Resource() == exchange.TokenEndpoint {
				continue // without a token everything else would only be blocked
			}
			x.Response = &exchange.Response{Proto: "HTTP/1.1", Status: int(status), Body: body, Size: int64(len(body)), Truncated: cut,
				Header: []exchange.Field{{Name: name, Value: value}}}
			s.exchanges[label] = x
		}
		if json.Valid(body) {
			s.document.Reduced = body
		}
		for id, j := range requirement.Judge(requirement.Catalogue(), requirement.Read(s.evidence())) {
			if j.Outcome != requirement.Pass && j.Reason == "" {
				t.Errorf("%s is %s without a reason", id, j.Outcome)
			}
			if _, err := json.Marshal(j); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
