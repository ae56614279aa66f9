package exchange

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// portable is the text as JSON keeps it: bytes that are no UTF-8 become U+FFFD. Live evidence is judged in the same form as
// evidence that was read back.
func portable(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func portableHeader(h []Field) []Field {
	out := slices.Clone(h)
	for i := range out {
		out[i] = Field{portable(out[i].Name), portable(out[i].Value)}
	}
	return out
}

func (x Exchange) portable() Exchange {
	x.Started = x.Started.Round(0).UTC()
	x.Request.Method, x.Request.URL = portable(x.Request.Method), portable(x.Request.URL)
	x.Request.Header = portableHeader(x.Request.Header)
	given := make(map[string]string, len(x.Given))
	for k, v := range x.Given {
		given[portable(k)] = portable(v)
	}
	if x.Given = given; len(given) == 0 {
		x.Given = nil
	}
	x.Redirects = slices.Clone(x.Redirects)
	for i, h := range x.Redirects {
		x.Redirects[i] = Hop{portable(h.URL), h.Status, portableHeader(h.Header), portable(h.Location)}
	}
	if x.Response != nil {
		r := *x.Response
		r.Proto, r.BodyError, r.Header = portable(r.Proto), portable(r.BodyError), portableHeader(r.Header)
		x.Response = &r
	}
	if x.Failure != nil {
		x.Failure = &Failure{x.Failure.Kind, portable(x.Failure.Message)}
	}
	return x
}

func portableFindings(list []SchemaFindings) []SchemaFindings {
	list = slices.Clone(list)
	for i := range list {
		list[i].Why = portable(list[i].Why)
		list[i].Findings = slices.Clone(list[i].Findings)
		for k, f := range list[i].Findings {
			f.Path, f.Expected, f.Got, f.Keyword = portable(f.Path), portable(f.Expected), portable(f.Got), portable(f.Keyword)
			list[i].Findings[k] = f
		}
	}
	return list
}

// compact is the JSON without blanks; what is no JSON stays as it is, and writing it fails.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
