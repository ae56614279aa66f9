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

// list copies a list; an empty one becomes nil, as it comes back from JSON.
func list[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

func portableHeader(h []Field) []Field {
	out := list(h)
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
	if len(x.Request.Body) == 0 {
		x.Request.Body = nil
	}
	x.Tokens = list(x.Tokens)
	if v := x.Verification; v != nil {
		x.Verification = &Verification{v.Fingerprint, v.Keys, v.Verified, portable(v.KeyID), portable(v.Why)}
	}
	x.Redirects = list(x.Redirects)
	for i, h := range x.Redirects {
		x.Redirects[i] = Hop{portable(h.URL), h.Status, portableHeader(h.Header), portable(h.Location)}
	}
	if x.Response != nil {
		r := *x.Response
		r.Proto, r.BodyError, r.Header = portable(r.Proto), portable(r.BodyError), portableHeader(r.Header)
		if len(r.Body) == 0 {
			r.Body = nil
		}
		x.Response = &r
	}
	if x.Failure != nil {
		x.Failure = &Failure{x.Failure.Kind, portable(x.Failure.Message)}
	}
	return x
}

func (r Roles) portable() Roles {
	r.Operations, r.BaseTried = list(r.Operations), list(r.BaseTried)
	r.OperationBase = portable(r.OperationBase)
	for i, s := range r.BaseTried {
		r.BaseTried[i] = portable(s)
	}
	return r
}

func (d Document) portable() Document {
	d.Reduced, d.Refused, d.Uncompared = compact(d.Reduced), portable(d.Refused), portable(d.Uncompared)
	d.Removed, d.Invalid = list(d.Removed), list(d.Invalid)
	for i, r := range d.Removed {
		d.Removed[i] = Removed{portable(r.Pointer), portable(r.Keyword), portable(r.Value)}
	}
	for i, s := range d.Invalid {
		d.Invalid[i] = portable(s)
	}
	return d
}

func portableFindings(all []SchemaFindings) []SchemaFindings {
	all = list(all)
	for i := range all {
		all[i].Why = portable(all[i].Why)
		all[i].Findings = list(all[i].Findings)
		for k, f := range all[i].Findings {
			f.Path, f.Expected, f.Got, f.Keyword = portable(f.Path), portable(f.Expected), portable(f.Got), portable(f.Keyword)
			all[i].Findings[k] = f
		}
	}
	return all
}

// compact is the JSON without blanks; what is no JSON stays as it is, and writing it fails.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
