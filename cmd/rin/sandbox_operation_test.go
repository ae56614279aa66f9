package main_test

import (
	"net/http"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// operated is a sandbox of the built binary, with its control listener.
type operated struct {
	base, control string
	session       *gexec.Session
}

func operatedSandbox(args ...string) operated {
	GinkgoHelper()
	base, control, session := controlledSandbox(args...)
	return operated{base, control, session}
}

// secret is that of a demo client, as the sandbox printed it.
func (o operated) secret(client string) string {
	GinkgoHelper()
	found := regexp.MustCompile(`client +` + client + ` \(.*\n +secret +(\S+)`).FindSubmatch(o.session.Out.Contents())
	Expect(found).To(HaveLen(2))
	return string(found[1])
}

// certify certifies the sandbox with the built binary.
func (o operated) certify(profile string) outcome {
	GinkgoHelper()
	return rin([]string{"SECRET=" + o.secret("demo-client"), "SECRET2=" + o.secret("demo-client-without-role")}, "certify", "--profile", profile, "--format", "json",
		"--token-url", o.base+"/oauth/token", "--info-url", o.base+"/ris-synergy/info/v1/oauth/info/", "--spec-url", o.base+"/ris-synergy/funding/v3/api-docs",
		"--client-id", "demo-client", "--client-secret", "env:SECRET", "--client-id2", "demo-client-without-role", "--client-secret2", "env:SECRET2")
}

var _ = Describe("rin sandbox in operation", func() {
	It("is certified with a rate limit and CORS, which are no faults", func() {
		o := operatedSandbox("--calls", "20", "--rate-limit", "20/s", "--cors", "http://localhost:5173")
		got := o.certify("auth")
		Expect(got.code).To(Equal(0), got.out+got.err)
	})

	It("answers whoever asks too often with 429, and pages that it lets call", func() {
		o := operatedSandbox("--calls", "3", "--rate-limit", "2/m", "--cors", "*")
		var statuses []int
		for range 3 {
			answer, err := http.Get(o.base + "/registry/registry.json")
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.Header.Get("Access-Control-Allow-Origin")).To(Equal("*"))
			statuses = append(statuses, answer.StatusCode)
		}
		Expect(statuses).To(Equal([]int{200, 200, 429}))
	})
})
