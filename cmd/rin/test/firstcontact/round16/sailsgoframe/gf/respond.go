package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gogf/gf/v2/errors/gerror"
	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func send(r *ghttp.Request, status int, contentType string, body []byte) {
	h := r.Response.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	r.Response.ClearBuffer()
	r.Response.WriteHeader(status)
	if r.Method != http.MethodHead {
		r.Response.Write(body)
	}
}

func problem(r *ghttp.Request, status int, kind, detail string, fields ...g.Map) {
	h := r.Response.Header()
	for _, k := range []string{"ETag", "Last-Modified", "Link", "X-Total-Count"} {
		h.Del(k)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Language", "en")
	m := g.Map{"type": "/problems/" + kind, "title": http.StatusText(status), "status": status, "detail": detail, "instance": r.URL.EscapedPath()}
	if len(fields) > 0 {
		m["invalidParams"] = fields
	}
	send(r, status, "application/problem+json", encode(m))
}

func recovered(r *ghttp.Request) {
	defer func() {
		if e := recover(); e != nil {
			g.Log().Error(r.Context(), gerror.Newf("%v", e))
			problem(r, 500, "internal", "Something went wrong here.")
		}
	}()
	r.Middleware.Next()
}

func readOnly(r *ghttp.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		r.Middleware.Next()
		return
	}
	r.Response.Header().Set("Allow", "GET, HEAD, OPTIONS")
	if r.Method == http.MethodOptions {
		r.Response.WriteHeader(204)
		return
	}
	problem(r, 405, "method-not-allowed", "This resource is read-only.")
}

var tagPattern = regexp.MustCompile(`(W/)?"[^"]*"`)

type entityOptions struct {
	cache    string
	language string
	modified time.Time
}

// entity sends a representation and evaluates the preconditions of RFC 9110, section 13.
func entity(r *ghttp.Request, v any, o entityOptions) {
	body := encode(v)
	sum := sha256.Sum256(append([]byte(o.language+"\x00"), body...))
	if node == "gf-esche" && !o.modified.IsZero() {
		sum = sha256.Sum256([]byte(r.URL.Path + o.modified.String()))
	}
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := r.Response.Header()
	h.Set("ETag", tag)
	if o.cache == "" {
		o.cache = "private, max-age=0, must-revalidate"
	}
	h.Set("Cache-Control", o.cache)
	vary := []string{}
	if o.language != "" {
		vary = append(vary, "Accept-Language")
		h.Set("Content-Language", o.language)
	}
	if strings.HasPrefix(o.cache, "private") {
		vary = append(vary, "Authorization")
	}
	if len(vary) > 0 {
		h.Set("Vary", strings.Join(vary, ", "))
	}
	if !o.modified.IsZero() {
		h.Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
	}
	in := r.Request.Header
	matches := func(name string, weak bool) bool {
		for _, line := range in.Values(name) {
			if strings.TrimSpace(line) == "*" {
				return true
			}
			for _, t := range tagPattern.FindAllString(line, -1) {
				if weak {
					t = strings.TrimPrefix(t, "W/")
				}
				if t == tag {
					return true
				}
			}
		}
		return false
	}
	since := func(name string) (time.Time, bool) {
		t, err := http.ParseTime(in.Get(name))
		return t, err == nil && len(in.Values(name)) == 1 && !o.modified.IsZero()
	}
	failed := false
	if len(in.Values("If-Match")) > 0 {
		failed = !matches("If-Match", false)
	} else if t, ok := since("If-Unmodified-Since"); ok {
		failed = o.modified.After(t)
	}
	if failed {
		problem(r, 412, "precondition-failed", "A precondition of the request is not met.")
		return
	}
	same := false
	if len(in.Values("If-None-Match")) > 0 {
		same = matches("If-None-Match", true)
	} else if t, ok := since("If-Modified-Since"); ok {
		same = !o.modified.After(t)
	}
	if same {
		h.Del("Link")
		h.Del("X-Total-Count")
		h.Del("Content-Language")
		h.Del("Last-Modified")
		r.Response.WriteHeader(304)
		return
	}
	send(r, 200, "application/json", body)
}

// language chooses German or English by lookup (RFC 4647, 3.4) in the order of quality; German if nothing fits.
func language(r *ghttp.Request) string {
	q := map[string]float64{}
	star := -1.0
	for _, part := range strings.Split(strings.Join(r.Request.Header.Values("Accept-Language"), ","), ",") {
		name, params, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		name = strings.TrimSpace(name)
		v := 1.0
		if p := strings.TrimSpace(params); p != "" {
			if f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(p, " ", ""), "q=")), 64); err == nil {
				v = f
			}
		}
		if name == "*" {
			star = v
			continue
		}
		primary, rest, _ := strings.Cut(name, "-")
		if primary != "de" && primary != "en" {
			continue
		}
		if rest != "" && v == 0 {
			continue
		}
		if old, ok := q[primary]; !ok || v > old {
			q[primary] = v
		}
	}
	of := func(l string) float64 {
		if v, ok := q[l]; ok {
			return v
		}
		if star >= 0 {
			return star
		}
		return -1
	}
	de, en := of("de"), of("en")
	if en > 0 && en > de || en != 0 && de == 0 {
		return "en"
	}
	return "de"
}
