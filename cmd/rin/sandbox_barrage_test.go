package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// malformed is a malformed request, with the status and a part of the text of its refusal.
type malformed struct {
	name, request string
	status        int
	says          string
}

// barrage returns malformed requests to the sandbox.
func barrage() []malformed {
	const list, token, form = "/ris-synergy/try-out/funding/v3/fundings", "/oauth/token", "Content-Type: application/x-www-form-urlencoded\r\n"
	get := func(target, header string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: node\r\nConnection: close\r\n" + header + "\r\n"
	}
	post := func(header, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: node\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", token, header, len(body), body)
	}
	return []malformed{
		{"a stray percent sign in the path", get("/ris%zz", ""), 400, "% itself is %25"},
		{"a stray percent sign in the query", get(list+"?a=%zz", ""), 400, "the query of the URL cannot be decoded"},
		{"a semicolon in the query", get(list+"?a;b=1", ""), 400, "; as %3B"},
		{"a parameter twice", get(list+"?fundingType=CALL&fundingType=GRANT", ""), 400, "more than once"},
		{"a size that is not a number", get(list+"?page[size]=x", ""), 400, "whole number from 1 to 10000"},
		{"a size that overflows", get(list+"?page[size]=99999999999999999999", ""), 400, "whole number from 1 to 10000"},
		{"a page before the first", get(list+"?page[page]=-1", ""), 400, "whole number from 0"},
		{"a header of 100 KiB", get(list, "A: "+strings.Repeat("a", 100<<10)+"\r\n"), 431, "the limit is 32 KiB"},
		{"a URL of 100 KiB", get("/"+strings.Repeat("a", 100<<10), ""), 431, "its URL included"},
		{"no Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "missing required Host header"},
		{"a malformed Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed Host header"},
		{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "one Host"},
		{"an unknown version of HTTP", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "send HTTP/1.1"},
		{"TLS to a port for plain HTTP", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400, "can't be read as HTTP/1.1"},
		{"bytes that are not HTTP", "\x00\x01\x02\r\n\r\n", 400, "can't be read as HTTP/1.1"},
		{"a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, ""},
		{"a blank in a header name", get(list, "Bad Name: x\r\n"), 400, "invalid header name"},
		{"NUL in a header value", get(list, "A: a\x00b\r\n"), 400, "control characters"},
		{"an unknown method", "BREW " + list + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405, "use GET or HEAD"},
		{"a method that changes data", "DELETE " + list + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405, "read-only"},
		{"CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\n\r\n", 400, "not a proxy"},
		{"no path", get("*", ""), 400, "names no path"},
		{"an unknown Expect", get(list, "Expect: magic\r\n"), 417, ""},
		{"an id with NUL", get(list+"/%00", ""), 404, "no funding with this id"},
		{"an id of 20 KiB", get(list+"/"+strings.Repeat("x", 20<<10), ""), 404, "no funding with this id"},
		{"a token of 20 KiB", get("/ris-synergy/info/v1/oauth/info/", "Authorization: Bearer "+strings.Repeat("a", 20<<10)+"\r\n"), 401, "longer than 8192"},
		{"two Authorization headers", get("/ris-synergy/info/v1/oauth/info/", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400, "more than once"},
		{"a form that cannot be decoded", post(form, "grant_type=client_credentials&client_id=%zz"), 400, "the form cannot be decoded"},
		{"JSON instead of a form", post("Content-Type: application/json\r\n", "{}"), 400, "takes a form"},
		{"a malformed media type", post("Content-Type: ;;;\r\n", "{}"), 400, "cannot be read"},
		{"a compressed form", post(form+"Content-Encoding: gzip\r\n", "a"), 415, "content coding"},
		{"a form that is too large", post(form, strings.Repeat("a", 100<<10)), 413, "larger than 32 KiB"},
		{"a negative length", "POST " + token + " HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "HTTP/1.1"},
		{"two lengths", "POST " + token + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "HTTP/1.1"},
		{"an unknown transfer coding", "POST " + token + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nab", 501, "chunked"},
		{"a malformed chunk", "POST " + token + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + form + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "could not be read to its end"},
	}
}

// sendRaw sends a request as it is, and reads the answer.
func sendRaw(address, request string) (status int, body string, err error) {
	connection, err := net.DialTimeout("tcp", address, 20*time.Second)
	if err != nil {
		return 0, "", err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, "", err
	}
	go func() { _, _ = io.WriteString(connection, request) }() // the sandbox may hang up before it has all
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(read), err
}

var _ = Describe("rin sandbox under a barrage of malformed requests", func() {
	It("refuses each as its RFC demands, with the reason, and still serves good clients", func() {
		o := startSandbox("--calls", "20")
		address := strings.TrimPrefix(o.base, "http://")
		faults := make(chan string, 1000)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for _, m := range barrage() {
					status, body, err := sendRaw(address, m.request)
					// If a request is larger than what the sandbox reads, the connection may be closed before the answer is read.
					cut := err != nil && len(m.request) > 32<<10
					if !cut && (err != nil || status != m.status || !strings.Contains(body, m.says)) {
						faults <- fmt.Sprintf("%s: expected %d with %q, got %d %v: %.300s", m.name, m.status, m.says, status, err, body)
					}
				}
			})
		}
		for range 3 {
			group.Go(func() {
				defer GinkgoRecover()
				o.walk()
			})
		}
		group.Wait()
		close(faults)
		for fault := range faults {
			Fail(fault)
		}
		o.walk()
		Expect(string(o.session.Err.Contents())).NotTo(ContainSubstring("panicked"))
		Expect(o.session.ExitCode()).To(Equal(-1), "it still runs")
	})
})

// walk reads registry, token, info and list as a client does.
func (o runningSandbox) walk() {
	GinkgoHelper()
	client := &http.Client{Timeout: 20 * time.Second}
	read := func(answer *http.Response, err error) string {
		GinkgoHelper()
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.StatusCode).To(Equal(http.StatusOK), string(body))
		return string(body)
	}
	Expect(read(client.Get(o.base + "/registry/registry.json"))).To(ContainSubstring(o.base + "/oauth/token"))
	granted := read(client.PostForm(o.base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {o.secret("demo-client")}}))
	token := strings.Split(granted, `"`)[3]
	for path, want := range map[string]string{"/ris-synergy/info/v1/oauth/info/": `"endpoints"`, "/ris-synergy/funding/v3/fundings?page[size]=5": `"XF-00000001"`} {
		request, err := http.NewRequest(http.MethodGet, o.base+path, nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+token)
		Expect(read(client.Do(request))).To(ContainSubstring(want))
	}
}
