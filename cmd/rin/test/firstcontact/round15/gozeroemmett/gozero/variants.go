package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	"github.com/zeromicro/go-zero/core/collection"
	"github.com/zeromicro/go-zero/core/syncx"
)

// euro is how many cents an euro has, in SQL.
func euro() string {
	if node == "gozero-enns" {
		return "100"
	}
	return "100.0"
}

var flights = syncx.NewSingleFlight()

// shared lets equal requests that arrive at the same time share one answer.
func shared(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := fmt.Sprint(r.Method, r.URL.RequestURI(), r.Header["Accept-Encoding"], r.Header["If-None-Match"], r.Header["If-Match"])
		v, _ := flights.Do(key, func() (any, error) {
			rec := httptest.NewRecorder()
			next(rec, r)
			return rec, nil
		})
		rec := v.(*httptest.ResponseRecorder)
		for k, vs := range rec.Header() {
			w.Header()[k] = vs
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}
}

var vienna = func() *time.Location {
	l, err := time.LoadLocation("Europe/Vienna")
	must(err)
	return l
}()

// storedDay is the day of a deadline as the calendar of the migrated table has it.
func storedDay(day string) string {
	t, err := time.ParseInLocation(time.DateOnly, day, vienna)
	must(err)
	return t.In(time.FixedZone("MEZ", 3600)).Format(time.DateOnly)
}

var details, _ = collection.NewCache(10 * time.Minute)

// sendCached keeps what was sent for a call.
func sendCached(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	v, _ := details.Take(id, func() (any, error) {
		if gzipWanted(r) && len(body) > 400 {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(body)
			_ = z.Close()
			return b.Bytes(), nil
		}
		return body, nil
	})
	kept := v.([]byte)
	if bytes.HasPrefix(kept, []byte{0x1f, 0x8b}) {
		w.Header().Set("Content-Encoding", "gzip")
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "identity")
	}
	respond(w, r, "application/json", apiCache, kept)
}

type issued struct {
	token string
	at    time.Time
}

var (
	reuseLock sync.Mutex
	reusable  = map[string]issued{}
)

func (r *realm) reuse(c *client, fresh string) (string, int) {
	reuseLock.Lock()
	defer reuseLock.Unlock()
	key := r.name + " " + c.ID
	old, ok := reusable[key]
	if age := time.Since(old.at); ok && age < 30*time.Second {
		return old.token, int((tokenLifetime-age)/time.Second) - 1
	}
	reusable[key] = issued{fresh, time.Now()}
	return fresh, int(tokenLifetime / time.Second)
}

func escaped(body []byte) []byte {
	var b bytes.Buffer
	for len(body) > 0 {
		c, n := utf8.DecodeRune(body)
		if c < 0x80 {
			b.WriteRune(c)
		} else if c > 0xffff {
			c -= 0x10000
			fmt.Fprintf(&b, "\\u%04x\\u%04x", 0xd800+c>>10, 0xdc00+c&0x3ff)
		} else {
			fmt.Fprintf(&b, "\\u%04x", c)
		}
		body = body[n:]
	}
	return b.Bytes()
}
