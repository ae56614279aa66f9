package evidence

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// rewriter changes the texts of evidence that came from a node. Its methods return changed copies.
type rewriter struct {
	text       func(string) string
	headerName func(string) string
	body       func(Body) Body // of a request
	answer     func(Body) Body
}

func newRewriter(text, headerName func(string) string, body func(Body) Body) rewriter {
	return rewriter{text, headerName, body, body}
}

// redacting replaces secrets by their markers.
func redacting(r *redact.Redactor) rewriter {
	return newRewriter(r.Text, r.HeaderName, func(b Body) Body { return r.Bytes(b) })
}

// portable brings evidence into the form that JSON gives back, so that live and recorded evidence are judged alike: bytes that are not UTF-8 become U+FFFD,
// and empty lists become nil.
func portable() rewriter {
	return newRewriter(validUTF8, validUTF8, func(b Body) Body {
		if len(b) == 0 {
			return nil
		}
		return b
	})
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (w rewriter) rewriteTexts(texts ...*string) {
	for _, t := range texts {
		*t = w.text(*t)
	}
}

func (w rewriter) list(texts []string) []string {
	texts = cloneOrNil(texts)
	for i := range texts {
		w.rewriteTexts(&texts[i])
	}
	return texts
}

func (w rewriter) header(h []Field) []Field {
	h = cloneOrNil(h)
	for i, f := range h {
		h[i] = Field{w.headerName(f.Name), w.text(f.Value)}
	}
	return h
}

func (w rewriter) failure(f *Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{f.Kind, w.text(f.Message)}
}

func (w rewriter) exchange(x Exchange) Exchange {
	var given map[string]string
	if len(x.Given) > 0 {
		given = make(map[string]string, len(x.Given))
	}
	for k, v := range x.Given {
		given[w.text(k)] = w.text(v)
	}
	x.Given = given
	w.rewriteTexts(&x.Request.Method, &x.Request.URL)
	x.Request.Header, x.Request.Body = w.header(x.Request.Header), w.body(x.Request.Body)
	x.Redirects = cloneOrNil(x.Redirects)
	for i := range x.Redirects {
		h := &x.Redirects[i]
		w.rewriteTexts(&h.URL, &h.Location)
		h.Header = w.header(h.Header)
	}
	if x.Response != nil {
		r := *x.Response
		w.rewriteTexts(&r.Proto, &r.BodyError)
		r.Header, r.Body = w.header(r.Header), w.answer(r.Body)
		r.Coding = cloneOrNil(r.Coding)
		x.Response = &r
	}
	if x.Verification != nil {
		v := *x.Verification
		w.rewriteTexts(&v.KeyID, &v.Why)
		x.Verification = &v
	}
	x.Failure = w.failure(x.Failure)
	return x
}

func (w rewriter) handshake(h Handshake) Handshake {
	w.rewriteTexts(&h.Message, &h.Protocol)
	h.Chain = cloneOrNil(h.Chain)
	for i := range h.Chain {
		c := &h.Chain[i]
		w.rewriteTexts(&c.Subject, &c.Issuer)
		c.Names = w.list(c.Names)
	}
	h.Failure = w.failure(h.Failure)
	return h
}

func (w rewriter) findings(all []SchemaFindings) []SchemaFindings {
	all = cloneOrNil(all)
	for i := range all {
		w.rewriteTexts(&all[i].Why)
		all[i].Findings = cloneOrNil(all[i].Findings)
		for k := range all[i].Findings {
			f := &all[i].Findings[k]
			w.rewriteTexts(&f.Path, &f.Expected, &f.Got, &f.Keyword)
		}
	}
	return all
}

func (w rewriter) registry(f RegistryFacts) RegistryFacts {
	f.Twins, f.Repeated = cloneOrNil(f.Twins), w.list(f.Repeated)
	for i := range f.Twins {
		w.rewriteTexts(&f.Twins[i].TokenURL, &f.Twins[i].InfoURL)
	}
	return f
}

func (w rewriter) roles(r Roles) Roles {
	r.Operations, r.BaseTried = cloneOrNil(r.Operations), w.list(r.BaseTried)
	w.rewriteTexts(&r.OperationBase)
	return r
}

func (w rewriter) document(d Document) Document {
	w.rewriteTexts(&d.Refused, &d.Uncompared)
	d.Reduced, d.Removed, d.Invalid = compact(d.Reduced), cloneOrNil(d.Removed), w.list(d.Invalid)
	for i := range d.Removed {
		w.rewriteTexts(&d.Removed[i].Pointer, &d.Removed[i].Keyword, &d.Removed[i].Value)
	}
	return d
}

// Redacted returns a copy of the exchange with every known secret replaced, in all its fields. Values of cookies are replaced, too: a
// session is as good as a token.
func (x Exchange) Redacted(r *redact.Redactor) Exchange {
	// Cookies come first: their values may be anywhere else in the answer.
	x.Redirects = slices.Clone(x.Redirects)
	for i, h := range x.Redirects {
		x.Redirects[i].Header = learnCookies(r, h.Header)
	}
	if x.Response != nil {
		a := *x.Response
		a.Header = learnCookies(r, a.Header)
		x.Response = &a
	}
	cut := func() [][]byte { return nil }
	if x.Response != nil {
		cut = sync.OnceValue(x.Response.Body.parts)
	}
	found := findSecrets(r, x, cut)
	rewrite := redacting(r)
	rewrite.answer = func(b Body) Body { return r.Parted(b, cut) }
	x = rewrite.exchange(x)
	if !found.Full() {
		return x
	}
	return newRewriter(found.Rest, found.Rest, func(b Body) Body { return Body(found.Rest(string(b))) }).exchange(x)
}

// findSecrets searches an answer and its URLs for texts in the form of a secret, and adds them to the secrets. cut cuts the body of the answer.
func findSecrets(r *redact.Redactor, x Exchange, cut func() [][]byte) *redact.Finder {
	f := r.Finder()
	f.URL(x.Request.URL)
	header := func(fields []Field) {
		for _, h := range fields {
			f.Header(h.Name, h.Value)
		}
	}
	for _, hop := range x.Redirects {
		f.URL(hop.URL)
		f.URL(hop.Location)
		header(hop.Header)
	}
	if x.Response != nil {
		header(x.Response.Header)
		f.Body(x.Response.Body, cut, issuesTokens(x), x.Response.Status >= 400)
	}
	return f
}

// issuesTokens reports whether an exchange is a call of a token endpoint. A POST without a label renews a token.
func issuesTokens(x Exchange) bool {
	r := x.Label.Resource()
	return r == "" && x.Request.Method == http.MethodPost || slices.Contains([]Resource{TokenEndpoint, SecondClient, OtherClient, SpareClient, StagingEndpoint}, r)
}

// learnCookies adds the values of all cookies in a header to the secrets.
func learnCookies(r *redact.Redactor, h []Field) []Field {
	h = slices.Clone(h)
	for i, f := range h {
		if strings.EqualFold(f.Name, "Set-Cookie") {
			h[i].Value = r.SetCookie(f.Value)
		}
	}
	return h
}

// Redacted returns a copy of the handshake with every known secret replaced.
func (h Handshake) Redacted(r *redact.Redactor) Handshake { return redacting(r).handshake(h) }

// Redacted returns a copy of the facts with every known secret replaced.
func (f RegistryFacts) Redacted(r *redact.Redactor) RegistryFacts { return redacting(r).registry(f) }

// RedactFindings returns a copy of the findings with every known secret replaced.
func RedactFindings(r *redact.Redactor, all []SchemaFindings) []SchemaFindings {
	return redacting(r).findings(all)
}

// RedactToken adds an access token to the secrets and returns its facts; its claims are redacted.
func RedactToken(r *redact.Redactor, name, token string) TokenFacts {
	fingerprint := r.Secret(name, token)
	if known := r.Name(token); known != "" {
		name = known
	}
	facts := FactsOf(name, token, fingerprint)
	if facts.JWT != nil {
		claims, _ := json.Marshal(facts.JWT.Claims) // decoded JSON always encodes
		r.Finder().Text(string(claims))
		facts.JWT.Header, _ = r.Value(facts.JWT.Header).(map[string]any)
		facts.JWT.Claims, _ = r.Value(facts.JWT.Claims).(map[string]any)
		facts.JWT.KnownKey = r.HMACKey(token)
	}
	return facts
}

// cloneOrNil copies a list; an empty one becomes nil, as it comes back from JSON.
func cloneOrNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

// compact removes insignificant white space from JSON; other text stays as it is, and writing it fails.
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
