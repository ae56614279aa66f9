package recorder_test

import (
	"bufio"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/recorder"
)

// listen starts a server that answers one connection with 204 and sends the head of the request, byte by byte, to the channel.
func listen() (url string, head chan string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(l.Close)
	head = make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var b strings.Builder
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			b.WriteString(line)
			if err != nil || line == "\r\n" {
				break
			}
		}
		io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		head <- b.String()
	}()
	return "http://" + l.Addr().String(), head
}

func rootCAs(pool *x509.CertPool) func(*recorder.Options) {
	return func(o *recorder.Options) { o.RootCAs = pool }
}

var _ = Describe("On the wire", func() {
	It("sends raw requests byte by byte", func() {
		url, head := listen()
		a := newFixture().send(recorder.Request{URL: url + "//a/./b;x=1?page[page]=0", Raw: true, Header: []evidence.Field{
			{Name: "authorization", Value: "Bearer "}, {Name: "X-B", Value: "\t2"}, {Name: "X-A", Value: "1"},
		}})
		Expect(a.Status).To(Equal(204))
		Expect(<-head).To(Equal("GET //a/./b;x=1?page[page]=0 HTTP/1.1\r\nHost: " + strings.TrimPrefix(url, "http://") +
			"\r\nauthorization: Bearer \r\nX-B: \t2\r\nX-A: 1\r\nUser-Agent: rin-conformance\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"))
	})

	It("keeps the spelling of URL and header names, and adds no unrecorded header", func() {
		url, head := listen()
		r := newFixture(func(o *recorder.Options) { o.UserAgent = "rin/1.2" })
		r.send(recorder.Request{URL: url + "//a/./b;x=1?page[page]=0", Header: []evidence.Field{{Name: "authorization", Value: "bearer  x"}, {Name: "Host", Value: "node.example"}}})
		Expect(strings.Split(strings.TrimSpace(<-head), "\r\n")).To(ConsistOf(
			"GET //a/./b;x=1?page[page]=0 HTTP/1.1", "Host: node.example", "User-Agent: rin/1.2", "Accept-Encoding: gzip", "authorization: bearer  x"))
		Expect(r.recorded().Request.Header).To(HaveLen(4))
	})

	It("lists the header of an answer by name, with values in their order", func() {
		r := newFixture()
		r.send(recorder.Request{URL: serve(hijacked("HTTP/1.1 200 OK\r\nx-b: 2\r\nX-A: caf\xe9\r\nX-B: 1\r\nContent-Length: 2\r\n\r\n\xff\xfe")).URL})
		x := r.recorded()
		Expect(x.Response.Header).To(Equal([]evidence.Field{
			{Name: "Content-Length", Value: "2"}, {Name: "X-A", Value: "caf\uFFFD"}, {Name: "X-B", Value: "2"}, {Name: "X-B", Value: "1"}}))
		Expect([]byte(x.Response.Body)).To(Equal([]byte("\xff\xfe")))
	})

	It("does not send cookies back", func() {
		cookies := 0
		s := serve(func(w http.ResponseWriter, q *http.Request) {
			cookies += len(q.Cookies())
			http.SetCookie(w, &http.Cookie{Name: "SESSION", Value: "x"})
		})
		r := newFixture()
		r.send(recorder.Request{URL: s.URL})
		r.send(recorder.Request{Label: "info.head", Method: "HEAD", URL: s.URL})
		Expect(cookies).To(BeZero())
	})

	It("ignores proxies of the environment", func() {
		r := newFixture()
		r.send(recorder.Request{URL: "http://node..example/"})
		Expect(r.recorded().Failure.Message).To(Equal(`no address for "node..example": no such host`))
	})

	It("reads a raw answer beyond its header", func() {
		body := strings.Repeat("0123456789", 20_000)
		a := newFixture().send(recorder.Request{Raw: true, URL: serve(text(body)).URL})
		Expect(string(a.Body) == body).To(BeTrue())
	})

	DescribeTable("verifies certificates",
		func(raw, h2 bool, proto string) {
			s := serveTLS(func(w http.ResponseWriter, q *http.Request) { io.WriteString(w, q.Proto) }, h2)
			r := newFixture()
			r.send(recorder.Request{URL: s.URL, Raw: raw})
			Expect(r.recorded().Failure.Kind).To(Equal(evidence.FailureTLS))
			pool := x509.NewCertPool()
			pool.AddCert(s.Certificate())
			Expect(string(newFixture(rootCAs(pool)).send(recorder.Request{URL: s.URL, Raw: raw}).Body)).To(Equal(proto))
		},
		Entry("HTTP/1.1", false, false, "HTTP/1.1"),
		Entry("HTTP/2", false, true, "HTTP/2.0"),
		Entry("raw", true, true, "HTTP/1.1"),
	)

	DescribeTable("classifies failures",
		func(url func() string, kind evidence.FailureKind, raw bool) {
			r := newFixture()
			r.send(recorder.Request{URL: url(), Raw: raw})
			f := r.recorded().Failure
			Expect(f.Kind).To(Equal(kind), f.Message)
			Expect(f.Message).NotTo(Or(BeEmpty(), ContainSubstring("->"), ContainSubstring("/etc/")))
			Expect(len(f.Message)).To(BeNumerically("<=", 310))
		},
		Entry("refused", func() string { return "http://" + closedPort() }, evidence.FailureConnect, false),
		Entry("refused, raw", func() string { return "http://" + closedPort() }, evidence.FailureConnect, true),
		Entry("HTTP where TLS is expected", func() string { return "https" + strings.TrimPrefix(serve(text("")).URL, "http") }, evidence.FailureTLS, false),
		Entry("HTTP where TLS is expected, raw", func() string { return "https" + strings.TrimPrefix(serve(text("")).URL, "http") }, evidence.FailureTLS, true),
		Entry("closed", func() string { return serve(hijacked("")).URL }, evidence.FailureReset, false),
		Entry("closed, raw", func() string { return serve(hijacked("")).URL }, evidence.FailureReset, true),
		Entry("reset", func() string { return serve(reset).URL }, evidence.FailureReset, false),
		Entry("reset, raw", func() string { return serve(reset).URL }, evidence.FailureReset, true),
		Entry("bytes that are not HTTP", func() string { return serve(hijacked("220 mail.example\r\n\r\n" + strings.Repeat("x", 5000))).URL }, evidence.FailureProtocol, false),
		Entry("bytes that are not HTTP, raw", func() string { return serve(hijacked("220 mail.example\r\n\r\n")).URL }, evidence.FailureProtocol, true),
		Entry("an invalid host name", func() string { return "http://node..example/" }, evidence.FailureResolve, false),
	)

	DescribeTable("refuses requests that cannot be sent",
		func(ask recorder.Request, message string) {
			r := newFixture()
			a := r.send(ask)
			Expect(a.Failure().Kind).To(Equal(evidence.FailureRefused))
			Expect(a.Failure().Message).To(ContainSubstring(message))
			Expect(r.recorder.Sent()).To(BeZero())
			Expect(r.recorded().Failure).NotTo(BeNil())
		},
		Entry("a relative URL", recorder.Request{URL: "/info"}, "expected an http or https URL"),
		Entry("another scheme", recorder.Request{URL: "file:///etc/passwd"}, `scheme "file"`),
		Entry("no host", recorder.Request{URL: "http:///x"}, "expected a URL with a host"),
		Entry("not a URL", recorder.Request{URL: "http://a b\x00"}, "one that cannot be read"),
		Entry("a header value with a line break", recorder.Request{URL: "http://127.0.0.1", Header: []evidence.Field{{Name: "A", Value: "b\r\nC: d"}}}, "not valid in a header line"),
		Entry("a header name with a line break", recorder.Request{URL: "http://127.0.0.1", Raw: true, Header: []evidence.Field{{Name: "A: b\r\nC", Value: "d"}}}, "not valid in a header line"),
		Entry("a method with a line break", recorder.Request{URL: "http://127.0.0.1", Method: "GET / HTTP/1.1\r\n"}, "expected a method"),
	)

	It("needs a journal, a redactor, a clock and readable origins", func() {
		_, err := recorder.New(recorder.Options{})
		Expect(err).To(MatchError("recorder: expected a journal, a redactor and a clock"))
		o := recorder.Options{Journal: evidence.NewJournal(nil), Redactor: redact.New(nil), Clock: time.Now}
		o.AllowedOrigins = []string{"node.example"}
		_, err = recorder.New(o)
		Expect(err).To(MatchError(ContainSubstring(`expected an origin such as https://node.example, got "node.example"`)))
		o.AllowedOrigins, o.Rate = nil, -1
		_, err = recorder.New(o)
		Expect(errors.Unwrap(err)).To(BeNil())
		Expect(err).To(MatchError(ContainSubstring("not negative")))
	})

	It("waits in real time by default", func(ctx SpecContext) {
		r := newFixture(func(o *recorder.Options) { o.Sleep, o.Rate = nil, 1000 })
		url := serve(text("")).URL
		r.send(recorder.Request{Label: "a.ok", URL: url})
		Expect(r.send(recorder.Request{Label: "b.ok", URL: url}).OK()).To(BeTrue())
	}, SpecTimeout(10*time.Second))
})

func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

var _ = Describe("A raw connection", func() {
	// conversation answers each connection with the bytes given and closes it.
	conversation := func(answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(l.Close)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				in := bufio.NewReader(conn)
				for line := ""; line != "\r\n" && err == nil; {
					line, err = in.ReadString('\n')
				}
				io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}

	DescribeTable("is read to its end on demand, and the bytes after the answer are counted",
		func(method, answer string, body string, surplus int) {
			r := newFixture()
			a := r.send(recorder.Request{Method: method, URL: conversation(answer), Raw: true, ToEnd: true})
			Expect(a.Status).To(Equal(200))
			Expect(string(a.Body)).To(Equal(body))
			Expect(r.recorded().Response.Surplus).To(BeEquivalentTo(surplus))
		},
		Entry("nothing", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "{}", 0),
		Entry("a Content-Length that is too small", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}, and more", "{}", 10),
		Entry("a line end", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n", "{}", 0),
		Entry("nothing after chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "{}", 0),
		Entry("more after chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nmore", "{}", 4),
		Entry("a body up to the end", "GET", "HTTP/1.1 200 OK\r\n\r\n{}", "{}", 0),
		Entry("HEAD without a body", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "", 0),
		Entry("HEAD with a body", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "", 2),
	)

	It("is not read to its end unless the request asks for it", func() {
		r := newFixture()
		a := r.send(recorder.Request{URL: conversation("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}more"), Raw: true})
		Expect(a.Status).To(Equal(200))
		Expect(r.recorded().Response.Surplus).To(BeZero())
	})
})
