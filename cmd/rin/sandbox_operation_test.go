package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// runningSandbox is a sandbox process of the built binary, with a control listener.
type runningSandbox struct {
	base, control string
	session       *gexec.Session
}

func startSandbox(args ...string) runningSandbox {
	GinkgoHelper()
	base, control, session := controlledSandbox(args...)
	return runningSandbox{base, control, session}
}

// secret returns the secret of a demo client that the sandbox printed.
func (s runningSandbox) secret(client string) string {
	GinkgoHelper()
	found := regexp.MustCompile(`client +` + client + ` \(.*\n +secret +(\S+)`).FindSubmatch(s.session.Out.Contents())
	Expect(found).To(HaveLen(2))
	return string(found[1])
}

// certify certifies the sandbox with the built binary.
func (s runningSandbox) certify(profile string) outcome {
	GinkgoHelper()
	return rin([]string{"SECRET=" + s.secret("demo-client"), "SECRET2=" + s.secret("demo-client-without-role")}, "certify", "--profile", profile, "--format", "json",
		"--token-url", s.base+"/oauth/token", "--info-url", s.base+"/ris-synergy/info/v1/oauth/info/", "--spec-url", s.base+"/ris-synergy/funding/v3/api-docs",
		"--client-id", "demo-client", "--client-secret", "env:SECRET", "--client-id2", "demo-client-without-role", "--client-secret2", "env:SECRET2")
}

var _ = Describe("rin sandbox in operation", func() {
	It("is certified with a rate limit and CORS", func() {
		s := startSandbox("--calls", "20", "--rate-limit", "40/s", "--cors", "http://localhost:5173")
		got := s.certify("auth")
		Expect(got.code).To(Equal(0), got.out+got.err)
		_, metrics := get(s.control + "/metrics")
		Expect(metrics).To(MatchRegexp(`rin_requests_limited_total{node="XA"} [1-9]`), "some requests were limited")
	})

	It("answers too frequent requests with 429, which pages of allowed origins can read, too", func() {
		s := startSandbox("--calls", "3", "--rate-limit", "2/m", "--cors", "*")
		var statuses []int
		for range 3 {
			answer, err := http.Get(s.base + "/registry/registry.json")
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.Header.Get("Access-Control-Allow-Origin")).To(Equal("*"))
			statuses = append(statuses, answer.StatusCode)
		}
		Expect(statuses).To(Equal([]int{200, 200, 429}))
	})

	It("logs each request in the background, completely and without secrets", func() {
		s := startSandbox("--calls", "3", "-v", "--log-format", "json")
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {s.secret("demo-client")}}
		for range 50 {
			answer, err := http.PostForm(s.base+"/oauth/token?leak="+s.secret("demo-client"), form)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
		}
		answer, err := http.Get(s.base + "/" + s.secret("demo-client") + "/nowhere")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		s.session.Signal(syscall.SIGTERM)
		Eventually(s.session, "10s").Should(gexec.Exit(0))
		var paths []string
		for line := range strings.Lines(string(s.session.Err.Contents())) {
			var record struct {
				Msg, Node, Method, Path string
				Status, Bytes           int
			}
			Expect(json.Unmarshal([]byte(line), &record)).To(Succeed(), line)
			Expect(record.Msg).To(Equal("answered"))
			Expect(record.Bytes).To(BeNumerically(">", 50))
			paths = append(paths, fmt.Sprint(record.Node, " ", record.Method, " ", record.Path, " ", record.Status))
		}
		Expect(paths).To(HaveLen(51))
		Expect(paths[0]).To(Equal("XA POST /oauth/token 200"))
		Expect(paths[50]).To(Equal("XA GET /.../nowhere 404"))
		Expect(s.session.Err.Contents()).NotTo(ContainSubstring(s.secret("demo-client")))
	})

	It("keeps serving when its log is not read", func() {
		cmd := exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--calls", "3", "-v")
		unread, err := cmd.StderrPipe()
		Expect(err).NotTo(HaveOccurred())
		out, err := cmd.StdoutPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(cmd.Start()).To(Succeed())
		DeferCleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		line, err := bufio.NewReader(out).ReadString('\n')
		Expect(err).NotTo(HaveOccurred())
		base := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
		client := &http.Client{Timeout: 20 * time.Second}
		for range 2000 { // their log lines are several times what a pipe holds
			answer, err := client.Get(base + "/healthz")
			Expect(err).NotTo(HaveOccurred())
			_, err = io.Copy(io.Discard, answer.Body)
			Expect(errors.Join(err, answer.Body.Close())).To(Succeed())
		}
		Expect(unread.Close()).To(Succeed())
	})

	It("serves metrics on the control listener only", func() {
		s := startSandbox("--calls", "3", "--rate-limit", "3/m")
		for range 5 {
			answer, err := http.PostForm(s.base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"a"}, "client_secret": {"b"}})
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
		}
		for _, place := range []string{s.base + "/metrics", s.base + "/made/up"} {
			answer, err := http.Get(place)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.StatusCode).To(Equal(http.StatusTooManyRequests))
		}
		answer, err := http.Get(s.control + "/metrics")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(answer.Body.Close)
		Expect(answer.Header.Get("Content-Type")).To(Equal("text/plain; version=0.0.4; charset=utf-8"))
		body, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(body)).To(SatisfyAll(
			ContainSubstring(`rin_requests_total{node="XA",operation="token",method="POST",status="4xx"} 5`+"\n"),
			ContainSubstring(`rin_requests_total{node="XA",operation="other",method="GET",status="4xx"} 2`+"\n"),
			ContainSubstring(`rin_token_requests_refused_total{node="XA",error="invalid_client"} 3`+"\n"),
			ContainSubstring(`rin_token_requests_refused_total{node="XA",error="temporarily_unavailable"} 2`+"\n"),
			ContainSubstring(`rin_requests_limited_total{node="XA"} 4`+"\n"),
			ContainSubstring("rin_journal_entries 7\n"), ContainSubstring("rin_clock_offset_seconds 0\n"), ContainSubstring("\ngo_goroutines "),
			Not(ContainSubstring("made")),
		))
	})
})
