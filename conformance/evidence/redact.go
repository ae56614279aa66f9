package evidence

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Exchange returns a copy of x with every known secret replaced, in all its fields. Values of cookies are replaced, too: a
// session is as good as a token.
func (r *Redactor) Exchange(x Exchange) Exchange {
	given := make(map[string]string, len(x.Given))
	for k, v := range x.Given {
		given[r.Text(k)] = r.Text(v)
	}
	if x.Given = given; len(given) == 0 {
		x.Given = nil
	}
	// Cookies come first: what they hold may stand anywhere else in the answer.
	hops := x.Redirects
	x.Redirects = nil
	for _, h := range hops {
		h.Header = r.cookies(h.Header)
		x.Redirects = append(x.Redirects, h)
	}
	if x.Response != nil {
		a := *x.Response
		a.Header = r.cookies(a.Header)
		x.Response = &a
	}
	x.Request.Method, x.Request.URL = r.Text(x.Request.Method), r.Text(x.Request.URL)
	x.Request.Header, x.Request.Body = r.header(x.Request.Header), r.Bytes(x.Request.Body)
	for i, h := range x.Redirects {
		x.Redirects[i] = Hop{r.Text(h.URL), h.Status, r.header(h.Header), r.Text(h.Location)}
	}
	if a := x.Response; a != nil {
		a.Proto, a.BodyError = r.Text(a.Proto), r.Text(a.BodyError)
		a.Header, a.Body = r.header(a.Header), r.Bytes(a.Body)
	}
	if v := x.Verification; v != nil {
		x.Verification = &Verification{v.Fingerprint, v.Keys, v.Verified, r.Text(v.KeyID), r.Text(v.Why)}
	}
	if x.Failure != nil {
		x.Failure = &Failure{x.Failure.Kind, r.Text(x.Failure.Message)}
	}
	return x
}

// Findings returns a copy of f with every known secret replaced.
func (r *Redactor) Findings(f SchemaFindings) SchemaFindings {
	f.Why = r.Text(f.Why)
	list := f.Findings
	f.Findings = nil
	for _, g := range list {
		g.Path, g.Expected, g.Got, g.Keyword = r.Text(g.Path), r.Text(g.Expected), r.Text(g.Got), r.Text(g.Keyword)
		f.Findings = append(f.Findings, g)
	}
	return f
}

// cookies adds the values of all cookies in a header to the secrets. The lines are otherwise as they were.
func (r *Redactor) cookies(h []Field) []Field {
	out := slices.Clone(h)
	for i, f := range out {
		if strings.EqualFold(f.Name, "Set-Cookie") {
			out[i].Value = r.cookie(f.Value)
		}
	}
	return out
}

func (r *Redactor) header(h []Field) []Field {
	var out []Field
	for _, f := range h {
		out = append(out, Field{r.fieldName(f.Name), r.Text(f.Value)})
	}
	return out
}

// maxCookies is how many values of cookies are looked for in what comes later. A node may set new ones with every answer.
const maxCookies = 200

// cookie adds the value of a Set-Cookie line (RFC 6265 §4.1.1) to the secrets; short values are settings, not sessions. It returns the
// line, without a value that was one too many.
func (r *Redactor) cookie(line string) string {
	pair, attributes, more := strings.Cut(line, ";")
	name, value, ok := strings.Cut(pair, "=")
	value = strings.Trim(strings.TrimSpace(value), `"`)
	if !ok || len(value) < 2*ShortSecret || r.learnCookie(value) {
		return line
	}
	if line = name + "=[[cookie:too-many]]"; more {
		line += ";" + attributes
	}
	return line
}

// learnCookie adds the value of a cookie to the secrets while there is room; false says that there is none.
func (r *Redactor) learnCookie(value string) bool {
	r.mu.Lock()
	_, known := r.byValue[value]
	room := known || r.learned < maxCookies
	if room && !known {
		r.learned++
	}
	r.mu.Unlock()
	if room {
		r.Secret("cookie", value)
	}
	return room
}

// fieldName redacts a header name. Names lose their spelling on the way, so the search goes without regard to case.
func (r *Redactor) fieldName(name string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	low := strings.ToLower(name)
	for _, s := range r.secrets {
		if len(s.value) >= ShortSecret && strings.Contains(low, s.low) {
			return s.marker(formPlain)
		}
	}
	return name
}

// Reveal puts the secrets back into a text, each where its marker stands and in the form that the marker names. value knows secrets by
// their fingerprints; markers of others stay. It is for the person at whose screen the secret was typed, and for nothing that is kept.
func Reveal(text string, value func(fingerprint string) (string, bool)) string {
	return markerPattern().ReplaceAllStringFunc(text, func(marker string) string {
		parts := markerPattern().FindStringSubmatch(marker)
		secret, known := value(parts[2])
		if !known {
			return marker
		}
		switch parts[3] {
		case formPlain:
			return secret
		case formPercent:
			return url.QueryEscape(secret)
		case formJSON:
			var quoted strings.Builder
			enc := json.NewEncoder(&quoted)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(secret) // strings always encode
			return quoted.String()[1 : quoted.Len()-2]
		case formBase64:
			return base64.StdEncoding.EncodeToString([]byte(secret))
		case formHex:
			return hex.EncodeToString([]byte(secret))
		}
		return marker
	})
}

// Mask names the secrets of a text in short, for a person's eye: "‹client_secret›".
func Mask(text string) string {
	return markerPattern().ReplaceAllStringFunc(text, func(marker string) string {
		return "‹" + markerPattern().FindStringSubmatch(marker)[1] + "›"
	})
}

// Piece is a part of a text: a marker as a whole, or what stands between two of them.
type Piece struct {
	Text   string
	Marker bool
}

// SplitMarkers cuts a text at its markers, for who shows secrets apart from the rest.
func SplitMarkers(text string) []Piece {
	if !slices.ContainsFunc(forms[:], func(form string) bool { return strings.Contains(text, ":"+form+"]]") }) {
		return []Piece{{Text: text}}
	}
	var pieces []Piece
	at := 0
	for _, m := range markerPattern().FindAllStringIndex(text, -1) {
		if m[0] > at {
			pieces = append(pieces, Piece{Text: text[at:m[0]]})
		}
		pieces = append(pieces, Piece{text[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(text) || at == 0 {
		pieces = append(pieces, Piece{Text: text[at:]})
	}
	return pieces
}
