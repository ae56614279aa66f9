package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must(e.Encode(v))
	if node == "gozero-elbe" {
		return escaped(b.Bytes())
	}
	return b.Bytes()
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	body := marshal(v)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// problem answers with problem details: RFC 9457.
func problem(w http.ResponseWriter, status int, detail string, extra ...string) {
	p := map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail}
	for i := 0; i+1 < len(extra); i += 2 {
		p[extra[i]] = extra[i+1]
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, "application/problem+json", p)
}

// gzipWanted reads Accept-Encoding: RFC 9110, 12.5.3.
func gzipWanted(r *http.Request) bool {
	gz, star := -1.0, -1.0
	identity := -1.0
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		fields := strings.Split(part, ";")
		q := 1.0
		for _, f := range fields[1:] {
			if k, v, ok := strings.Cut(strings.TrimSpace(f), "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
				n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
				if err != nil {
					n = 0
				}
				q = n
			}
		}
		switch strings.ToLower(strings.TrimSpace(fields[0])) {
		case "gzip", "x-gzip":
			gz = q
		case "identity":
			identity = q
		case "*":
			star = q
		}
	}
	if gz < 0 {
		gz = star
	}
	return gz > 0 && gz >= identity
}

func etagList(values []string) (tags []string, any bool) {
	s := strings.Join(values, ",")
	if strings.TrimSpace(s) == "*" {
		return nil, true
	}
	for s != "" {
		s = strings.TrimLeft(s, " \t,")
		weak := ""
		if strings.HasPrefix(s, "W/") {
			weak, s = "W/", s[2:]
		}
		if !strings.HasPrefix(s, `"`) {
			return tags, false
		}
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return tags, false
		}
		tags = append(tags, weak+s[:end+2])
		s = s[end+2:]
	}
	return tags, false
}

// respond sends a 200 representation, with its validator, coding and conditions.
func respond(w http.ResponseWriter, r *http.Request, contentType, cacheControl string, body []byte) {
	h := w.Header()
	sum := sha256.Sum256(body)
	if key, ok := r.Context().Value(tagKey{}).(string); ok {
		sum = sha256.Sum256([]byte(key))
	}
	tag := hex.EncodeToString(sum[:10])
	zip := len(body) > 400 && gzipWanted(r)
	if zip {
		tag += "-gz"
	}
	if node == "gozero-elbe" {
		tag = "v3,;*," + tag + ",\\"
		contentType += ";charset=utf-8"
	}
	tag = `"` + tag + `"`
	if im := r.Header.Values("If-Match"); len(im) > 0 {
		tags, star := etagList(im)
		ok := star
		for _, t := range tags {
			ok = ok || t == tag
		}
		if !ok {
			problem(w, http.StatusPreconditionFailed, "The representation has another entity tag.")
			return
		}
	}
	h.Set("ETag", tag)
	h.Set("Cache-Control", cacheControl)
	h.Set("Vary", "Accept-Encoding")
	if inm := r.Header.Values("If-None-Match"); len(inm) > 0 {
		tags, star := etagList(inm)
		for _, t := range tags {
			star = star || strings.TrimPrefix(t, "W/") == tag
		}
		if star {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if zip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body)
		_ = z.Close()
		body = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

func hasToken(query string) bool {
	form, _ := parseForm(query)
	return form.Has("access_token")
}

type ctxKey struct{}

type tagKey struct{}

func caller(r *http.Request) *claims { return r.Context().Value(ctxKey{}).(*claims) }

func challenge(w http.ResponseWriter, status int, realmName, code, descr string) {
	v := `Bearer realm="` + realmName + `"`
	if code != "" {
		v += fmt.Sprintf(`, error="%s", error_description="%s"`, code, descr)
	}
	w.Header().Set("WWW-Authenticate", v)
	problem(w, status, descr)
}

// guard is the middleware in front of what needs a token: RFC 6750.
func guard(rl *realm, audience string, needRole bool) func(http.HandlerFunc) http.HandlerFunc {
	return func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			headers := r.Header.Values("Authorization")
			if len(headers) == 0 {
				challenge(w, http.StatusUnauthorized, rl.name, "", "An access token is needed.")
				return
			}
			scheme, token, _ := strings.Cut(headers[0], " ")
			token = strings.TrimSpace(token)
			if !strings.EqualFold(scheme, "Bearer") {
				challenge(w, http.StatusUnauthorized, rl.name, "", "An access token is needed.")
				return
			}
			if len(headers) > 1 || hasToken(r.URL.RawQuery) {
				challenge(w, http.StatusBadRequest, rl.name, "invalid_request", "The token must be sent once, in the header Authorization.")
				return
			}
			cl, err := rl.verify(token, audience)
			if err != nil {
				challenge(w, http.StatusUnauthorized, rl.name, "invalid_token", "The access token is malformed, expired or not meant for this service.")
				return
			}
			if needRole {
				ok := false
				for _, x := range cl.RealmAccess["roles"] {
					ok = ok || x == role
				}
				if !ok {
					challenge(w, http.StatusForbidden, rl.name, "insufficient_scope", "The account lacks the role "+role+".")
					return
				}
			}
			next(w, r.WithContext(context.WithValue(r.Context(), ctxKey{}, cl)))
		}
	}
}
