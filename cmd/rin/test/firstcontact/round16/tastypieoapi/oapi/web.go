package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"oapinode/api"
)

// ---- problem details --------------------------------------------------------------------------------------------

func problem(w http.ResponseWriter, status int, detail, parameter string) {
	p := api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status}
	if detail != "" {
		p.Detail = &detail
	}
	if parameter != "" {
		p.Parameter = &parameter
	}
	body := encode(p)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Language", "en")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// ---- negotiation ------------------------------------------------------------------------------------------------

type weighted struct {
	name string
	q    float64
}

// weights reads a header like Accept: names in lower case, without parameters, with weights.
func weights(values []string) (out []weighted) {
	for _, item := range strings.Split(strings.Join(values, ","), ",") {
		parts := strings.Split(item, ";")
		name := strings.ToLower(strings.TrimSpace(parts[0]))
		if name == "" {
			continue
		}
		q := 1.0
		for _, p := range parts[1:] {
			k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(strings.TrimSpace(k), "q") {
				if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && f >= 0 && f <= 1 {
					q = f
				}
			}
		}
		out = append(out, weighted{name, q})
	}
	return out
}

// accepted is the format that Accept prefers among the offers, or "".
func accepted(r *http.Request, offers ...string) string {
	values := r.Header.Values("Accept")
	ws := weights(values)
	if len(ws) == 0 {
		return offers[0]
	}
	best, bestQ := "", 0.0
	for _, offer := range offers {
		kind, _, _ := strings.Cut(offer, "/")
		q, level := 0.0, 0
		for _, w := range ws {
			l := map[string]int{offer: 3, kind + "/*": 2, "*/*": 1}[w.name]
			if l > level || l == level && l > 0 && w.q > q {
				q, level = w.q, l
			}
		}
		if q > bestQ {
			best, bestQ = offer, q
		}
	}
	return best
}

// language is de or en: what Accept-Language prefers (RFC 4647, lookup), else de.
func language(r *http.Request) string {
	q := map[string]float64{"de": -1, "en": -1}
	star := -1.0
	for _, w := range weights(r.Header.Values("Accept-Language")) {
		primary, _, _ := strings.Cut(w.name, "-")
		if primary == "*" {
			star = max(star, w.q)
		} else if v, ok := q[primary]; ok {
			q[primary] = max(v, w.q)
		}
	}
	for l, v := range q {
		if v < 0 {
			q[l] = star
		}
	}
	if q["en"] > 0 && q["en"] > q["de"] {
		return "en"
	}
	return "de"
}

func wantsGzip(r *http.Request) bool {
	gz, star, identity := -1.0, -1.0, -1.0
	for _, w := range weights(r.Header.Values("Accept-Encoding")) {
		switch w.name {
		case "gzip", "x-gzip":
			gz = max(gz, w.q)
		case "*":
			star = w.q
		case "identity":
			identity = w.q
		}
	}
	if gz < 0 {
		gz = star
	}
	return gz > 0 && gz >= identity
}

// ---- representations --------------------------------------------------------------------------------------------

func etagList(values []string) (tags []string, star bool) {
	s := strings.TrimSpace(strings.Join(values, ","))
	if s == "*" {
		return nil, true
	}
	for s != "" {
		s = strings.TrimLeft(s, " \t,")
		start := 0
		if strings.HasPrefix(s, "W/") {
			start = 2
		}
		if len(s) <= start || s[start] != '"' {
			return tags, false
		}
		end := strings.IndexByte(s[start+1:], '"')
		if end < 0 {
			return tags, false
		}
		end += start + 2
		tags = append(tags, s[:end])
		s = s[end:]
	}
	return tags, false
}

// precondition is 304 or 412 or 0 (RFC 9110, 13.2.2).
func precondition(r *http.Request, etag string, modified time.Time) int {
	h := r.Header
	if v := h.Values("If-Match"); len(v) > 0 {
		tags, star := etagList(v)
		ok := star
		for _, t := range tags {
			ok = ok || t == etag
		}
		if !ok {
			return 412
		}
	} else if v := h.Get("If-Unmodified-Since"); v != "" && !modified.IsZero() {
		if t, err := http.ParseTime(v); err == nil && modified.After(t) {
			return 412
		}
	}
	if v := h.Values("If-None-Match"); len(v) > 0 {
		tags, star := etagList(v)
		if star {
			return 304
		}
		for _, t := range tags {
			if strings.TrimPrefix(t, "W/") == etag {
				return 304
			}
		}
	} else if v := h.Get("If-Modified-Since"); v != "" && !modified.IsZero() {
		if t, err := http.ParseTime(v); err == nil && !modified.After(t) {
			return 304
		}
	}
	return 0
}

// respond sends a representation: validators, coding, conditions.
func respond(w http.ResponseWriter, r *http.Request, mediaType, lang string, body []byte, modified time.Time, version ...string) {
	sum := sha256.Sum256(append([]byte(mediaType+"|"+lang+"|"), body...))
	if len(version) > 0 {
		sum = sha256.Sum256([]byte(version[0]))
	}
	tag := base64.RawURLEncoding.EncodeToString(sum[:15])
	h := w.Header()
	if wantsGzip(r) {
		tag += "-gz"
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(body)
		z.Close()
		body = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	if lang != "" {
		h.Set("Vary", "Accept, Accept-Encoding, Accept-Language")
		h.Set("Cache-Control", "private, max-age=0, must-revalidate")
	} else {
		h.Set("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "public, max-age=60")
	}
	if !modified.IsZero() {
		h.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	}
	switch precondition(r, `"`+tag+`"`, modified) {
	case 304:
		h.Del("Content-Encoding")
		w.WriteHeader(304)
		return
	case 412:
		for _, n := range []string{"Content-Encoding", "ETag", "Last-Modified", "Vary", "Link", "X-Total-Count"} {
			h.Del(n)
		}
		problem(w, 412, "If-Match or If-Unmodified-Since does not hold.", "")
		return
	}
	h.Set("Content-Type", mediaType)
	if lang != "" {
		h.Set("Content-Language", lang)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(200)
	w.Write(body)
}
