package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kataras/iris/v12"
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

// write sends the body with its length; net/http leaves it out on HEAD.
func write(ctx iris.Context, status int, contentType string, body []byte) {
	ctx.ContentType(contentType)
	ctx.Header("Content-Length", strconv.Itoa(len(body)))
	ctx.StatusCode(status)
	if ctx.Method() != http.MethodHead {
		ctx.Write(body)
	}
}

// fail sends a problem document (RFC 9457).
func fail(ctx iris.Context, status int, detail, parameter string) {
	problem := iris.Map{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail}
	if parameter != "" {
		problem["parameter"] = parameter
	}
	ctx.ResponseWriter().Header().Set("Cache-Control", "no-store")
	write(ctx, status, "application/problem+json", encode(problem))
}

// public sends a document that anybody may read and store.
func public(ctx iris.Context, contentType string, body []byte) {
	ctx.Header("Cache-Control", "public, max-age=60")
	conditional(ctx, contentType, body, time.Time{})
}

// private sends a document for the bearer of the token; it may be stored by the client alone, and only be used after asking again.
func private(ctx iris.Context, body []byte, modified time.Time) {
	if !acceptsJSON(ctx.Request().Header.Values("Accept")) {
		fail(ctx, 406, "Only application/json is to be had.", "")
		return
	}
	ctx.Header("Cache-Control", "private, no-cache")
	ctx.ResponseWriter().Header().Add("Vary", "Authorization, Accept")
	conditional(ctx, "application/json", body, modified)
}

func conditional(ctx iris.Context, contentType string, body []byte, modified time.Time) {
	header := ctx.Request().Header
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	ctx.ResponseWriter().Header().Add("Vary", "Accept-Encoding")
	coded := len(body) >= 1000 && quality(header.Values("Accept-Encoding"), "gzip", "*") > 0
	if coded {
		tag = tag[:len(tag)-1] + `-gz"`
	}
	last := modified.UTC().Format(http.TimeFormat)
	if match := strings.Join(header.Values("If-Match"), ","); match != "" {
		if !listed(match, tag, true) {
			fail(ctx, 412, "The representation has another entity tag.", "")
			return
		}
	} else if t, err := http.ParseTime(ctx.GetHeader("If-Unmodified-Since")); err == nil && !modified.IsZero() && modified.After(t) {
		fail(ctx, 412, "The representation was modified since.", "")
		return
	}
	ctx.Header("ETag", tag)
	if !modified.IsZero() {
		ctx.Header("Last-Modified", last)
	}
	fresh := false
	if none := strings.Join(header.Values("If-None-Match"), ","); none != "" {
		fresh = listed(none, tag, false)
	} else if t, err := http.ParseTime(ctx.GetHeader("If-Modified-Since")); err == nil && !modified.IsZero() {
		fresh = !modified.After(t)
	}
	if fresh {
		ctx.StatusCode(304)
		return
	}
	if coded {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(body)
		z.Close()
		body = b.Bytes()
		ctx.Header("Content-Encoding", "gzip")
	}
	write(ctx, 200, contentType, body)
}

// listed tells whether the field holds the tag; entity tags may hold commas.
func listed(field, tag string, strong bool) bool {
	if strings.TrimSpace(field) == "*" {
		return true
	}
	for rest := field; ; {
		rest = strings.TrimLeft(rest, " \t,")
		weak := strings.HasPrefix(rest, "W/")
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == tag && !(strong && weak) {
			return true
		}
		rest = rest[end+2:]
	}
}

// quality is the weight of the first of the names that the field mentions, 0 if it mentions none.
func quality(fields []string, names ...string) float64 {
	for _, name := range names {
		for _, part := range strings.Split(strings.Join(fields, ","), ",") {
			value, params, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(value), name) {
				return weight(params)
			}
		}
	}
	return 0
}

func weight(params string) float64 {
	for _, p := range strings.Split(params, ";") {
		if k, v, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(k, "q") {
			q, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

func acceptsJSON(fields []string) bool {
	joined := strings.Join(fields, ",")
	if strings.TrimSpace(joined) == "" {
		return true
	}
	best, q := -1, 0.0
	for _, part := range strings.Split(joined, ",") {
		kind, params, _ := strings.Cut(part, ";")
		level := map[string]int{"*/*": 0, "application/*": 1, "application/json": 2}
		if l, ok := level[strings.ToLower(strings.TrimSpace(kind))]; ok && l > best {
			best, q = l, weight(params)
		}
	}
	return q > 0
}

// The cache of details of the variant pram.
var cached sync.Map

type entry struct {
	body            []byte
	modified, until time.Time
}

func serveCached(ctx iris.Context) bool {
	e, ok := cached.Load(ctx.Request().URL.RequestURI())
	if !ok || time.Now().After(e.(entry).until) {
		return false
	}
	private(ctx, e.(entry).body, e.(entry).modified)
	return true
}
