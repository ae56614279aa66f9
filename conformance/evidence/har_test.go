package evidence_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

var _ = Describe("WriteHAR", func() {
	log := func() *evidence.Log {
		j := evidence.NewJournal(nil)
		j.Plan("token.ok", "info.ok", "spec.ok")
		failed := answered("spec.ok", 0)
		failed.Response, failed.Failure = nil, &evidence.Failure{Kind: evidence.FailureConnect, Message: "dial: connection refused"}
		j.Add(failed)
		info := answered("info.ok", 200)
		info.Redirects = []evidence.Hop{{URL: info.Request.URL, Status: 308, Location: "/info/", Header: []evidence.Field{{Name: "Location", Value: "/info/"}}}}
		info.Response.Body, info.Response.Size = evidence.Body("\xff\xd8"), 2
		info.Response.Header = []evidence.Field{{Name: "Content-Type", Value: "image/jpeg"}}
		j.Add(info)
		token := answered("token.ok", 200)
		token.Request = evidence.Request{Method: "POST", URL: "https://node.example/t?page[page]=0&q=a%20b&odd=%zz#f",
			Header: []evidence.Field{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}, Body: evidence.Body("a=b")}
		token.Attempts = 2
		j.Add(token)
		return j.Log()
	}

	entries := func() []map[string]any {
		var out bytes.Buffer
		Expect(evidence.WriteHAR(&out, log(), "1.2.3")).To(Succeed())
		var file struct {
			Log struct {
				Version string
				Creator map[string]string
				Pages   []any
				Entries []map[string]any
			}
		}
		Expect(json.Unmarshal(out.Bytes(), &file)).To(Succeed())
		Expect(file.Log.Version).To(Equal("1.2"))
		Expect(file.Log.Creator).To(Equal(map[string]string{"name": "rin", "version": "1.2.3"}))
		Expect(file.Log.Pages).NotTo(BeNil())
		return file.Log.Entries
	}

	It("writes one document with each entry on a line, also without entries", func() {
		for want, l := range map[int]*evidence.Log{0: {}, 4: log()} {
			var out bytes.Buffer
			Expect(evidence.WriteHAR(&out, l, "1")).To(Succeed())
			Expect(json.Valid(out.Bytes())).To(BeTrue(), out.String())
			entries := 0
			for line := range strings.Lines(out.String()) {
				if entry := strings.TrimRight(strings.TrimSpace(line), ","); strings.HasPrefix(entry, `{"startedDateTime"`) {
					Expect(json.Valid([]byte(entry))).To(BeTrue(), line)
					entries++
				}
			}
			Expect(entries).To(Equal(want))
		}
	})

	It("reports a failed write", func() {
		Expect(evidence.WriteHAR(brokenWriter{}, log(), "1")).To(MatchError(And(ContainSubstring("write HAR"), ContainSubstring("disk full"))))
	})

	It("gives every entry the members that HAR 1.2 requires", func() {
		list := entries()
		Expect(list).To(HaveLen(4))
		for _, e := range list {
			Expect(e).To(And(HaveKey("startedDateTime"), HaveKey("time"), HaveKey("request"), HaveKey("response"), HaveKey("cache"), HaveKey("timings")))
			_, err := time.Parse(time.RFC3339Nano, e["startedDateTime"].(string))
			Expect(err).NotTo(HaveOccurred())
			q := e["request"].(map[string]any)
			for _, member := range []string{"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"} {
				Expect(q[member]).NotTo(BeNil(), member)
			}
			a := e["response"].(map[string]any)
			for _, member := range []string{"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"} {
				Expect(a[member]).NotTo(BeNil(), member)
			}
			Expect(a["content"]).To(And(HaveKey("size"), HaveKey("mimeType")))
			Expect(e["timings"]).To(And(HaveKey("send"), HaveKey("wait"), HaveKey("receive")))
		}
	})

	It("shows posted data and the query in its order", func() {
		e := entries()[0]
		q := e["request"].(map[string]any)
		Expect(q["postData"]).To(Equal(map[string]any{"mimeType": "application/x-www-form-urlencoded", "params": []any{}, "text": "a=b"}))
		Expect(q["queryString"]).To(HaveExactElements(
			map[string]any{"name": "page[page]", "value": "0"}, map[string]any{"name": "q", "value": "a b"}, map[string]any{"name": "odd", "value": "%zz"}))
		Expect(e["_label"]).To(Equal("token.ok"))
		Expect(e["_attempts"]).To(BeEquivalentTo(2))
		Expect(e["time"]).To(BeEquivalentTo(3))
	})

	It("makes an entry of each redirect and encodes binary content", func() {
		list := entries()
		hop, last := list[1]["response"].(map[string]any), list[2]
		Expect(hop["status"]).To(BeEquivalentTo(308))
		Expect(hop["redirectURL"]).To(Equal("/info/"))
		Expect(last["request"].(map[string]any)["url"]).To(Equal("https://node.example/info/"))
		Expect(last["response"].(map[string]any)["content"]).To(Equal(
			map[string]any{"size": 2.0, "mimeType": "image/jpeg", "text": "/9g=", "encoding": "base64"}))
	})

	It("shows a failure as status 0 with its cause", func() {
		e := entries()[3]
		Expect(e["_error"]).To(Equal("connect: dial: connection refused"))
		Expect(e["response"]).To(HaveKeyWithValue("status", BeEquivalentTo(0)))
	})

	It("is deterministic, and writes an archive without exchanges", func() {
		var a, b, none bytes.Buffer
		Expect(evidence.WriteHAR(&a, log(), "1")).To(Succeed())
		Expect(evidence.WriteHAR(&b, log(), "1")).To(Succeed())
		Expect(a.Bytes()).To(Equal(b.Bytes()))
		Expect(evidence.WriteHAR(&none, &evidence.Log{}, "1")).To(Succeed())
		Expect(none.String()).To(ContainSubstring(`"entries": []`))
	})

	It("wraps the error of the writer", func() {
		Expect(errors.Unwrap(evidence.WriteHAR(brokenWriter{}, &evidence.Log{}, "1"))).To(MatchError("disk full"))
	})
})
