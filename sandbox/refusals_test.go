package sandbox_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/content"
)

// refusalOfNetHTTP is the body of a refusal of net/http, which the handler of these tests imitates.
const refusalOfNetHTTP = "400 Bad Request"

func serve() string {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, refusalOfNetHTTP)
	}))
	server.Listener = sandbox.ExplainRefusals(server.Listener, 32<<10)
	server.Config.MaxHeaderBytes = 32 << 10
	server.Start()
	DeferCleanup(server.Close)
	return server.Listener.Addr().String()
}

// ask sends bytes and reads the answer to its end.
func ask(address, request string) (*http.Response, []byte) {
	GinkgoHelper()
	connection, err := net.Dial("tcp", address)
	Expect(err).NotTo(HaveOccurred())
	defer connection.Close()
	Expect(connection.SetDeadline(time.Now().Add(20 * time.Second))).To(Succeed())
	go func() { _, _ = io.WriteString(connection, request) }() // the server may hang up before it has all
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer, body
}

var _ = DescribeTable("A request that can't be read is refused with a body that says what to look for",
	func(status int, want, request string) {
		answer, body := ask(serve(), request)
		Expect(answer.StatusCode).To(Equal(status))
		Expect(answer.Header.Get("Content-Type")).To(Equal("application/problem+json"))
		Expect(answer.Header.Get("Connection") == "close" || answer.Close).To(BeTrue())
		var p content.Problem
		Expect(json.Unmarshal(body, &p)).To(Succeed(), string(body))
		Expect(p.Status).To(Equal(status))
		Expect(p.Detail + " / " + p.Hint).To(ContainSubstring(want))
	},
	Entry("a stray percent sign in the path", 400, "% itself is %25", "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
	Entry("a blank in the path", 400, "a blank is %20", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
	Entry("no Host", 400, "can't be read as HTTP/1.1: missing required Host header", "GET / HTTP/1.1\r\n\r\n"),
	Entry("an invalid Host", 400, "malformed Host header", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
	Entry("two Hosts", 400, "one Host", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
	Entry("a name with a blank", 400, "invalid header name", "GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n"),
	Entry("a text that is not HTTP", 400, "curl -v", "hello\r\n\r\n"),
	Entry("another version", 505, "send HTTP/1.1", "GET / HTTP/3.0\r\nHost: a\r\n\r\n"),
	Entry("a header without end", 431, "the limit is 32 KiB", "GET / HTTP/1.1\r\nHost: a\r\nA: "+strings.Repeat("a", 64<<10)+"\r\n\r\n"),
	Entry("a transfer coding", 501, "Content-Length, or chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"),
)

var _ = Describe("A request that can be read", func() {
	It("gets the answer of the handler, even one that resembles a refusal", func() {
		answer, body := ask(serve(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		Expect(answer.StatusCode).To(Equal(400))
		Expect(string(body)).To(Equal(refusalOfNetHTTP))
	})
})
