package recorder_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/recorder"
)

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, deflate\r\n\r\n\x1f\x8b\x08\x00"), true)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"), false)
	f.Add([]byte("HTTP/1.1 429 Slow\r\nRetry-After: 9999999999999999999\r\n\r\n"), false)
	f.Add([]byte("HTTP/1.1 302 Found\r\nLocation: //%zz\r\n\r\n{\"access_token\":\"a.b.c\"}"), true)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n"), true)
	f.Add([]byte("HTTP/1.1 000 Nothing\r\n\r\n"), false)
	var wire []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { hijacked(string(wire))(w, q) }))
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, answer []byte, raw bool) {
		wire = answer
		var file bytes.Buffer
		journal := evidence.NewJournal(evidence.NewWriter(&file, func() time.Time { return time.Time{} }))
		journal.Begin(evidence.Run{})
		r, err := recorder.New(recorder.Options{
			Journal: journal, Redactor: redact.New(nil), ReadLimit: 1 << 16, Timeout: 5 * time.Second, Loopback: true,
			Clock: func() time.Time { return time.Time{} }, Sleep: func(context.Context, time.Duration) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		a := r.Send(context.Background(), recorder.Request{Label: "info.ok", URL: s.URL, Raw: raw, FollowSameOrigin: true, Issues: "access_token"})
		if (a.Failure() == nil) == (a.Status == 0) || len(a.Body) > 1<<16 {
			t.Fatalf("expected an answer or a failure within the limits, got %+v", a.Exchange)
		}
		if _, err := evidence.ReadLog(&file); err != nil || journal.Err() != nil {
			t.Fatal(err, journal.Err())
		}
	})
}
