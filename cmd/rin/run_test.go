package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

// rin runs the built binary to its end, in a directory of its own, with env added to a bare environment.
func rin(env []string, args ...string) outcome {
	GinkgoHelper()
	return rinIn(GinkgoT().TempDir(), "", env, args...)
}

func rinIn(dir, stdin string, env []string, args ...string) outcome {
	GinkgoHelper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	session, err := gexec.Start(cmd, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session, "60s").Should(gexec.Exit())
	return outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}
}

// report is what the tests look at in a report.json.
type report struct {
	Schema  string
	Profile string
	Verdict struct {
		Decision string
		Reasons  []struct{ Text string }
	}
	Requirements []struct{ ID, Outcome, Reason string }
}

func (r report) outcomes() map[string]string {
	out := map[string]string{}
	for _, q := range r.Requirements {
		out[q.ID] = q.Outcome
	}
	return out
}

// reportIn reads the report.json of a directory.
func reportIn(dir string) report {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	Expect(err).NotTo(HaveOccurred())
	var r report
	Expect(json.Unmarshal(data, &r)).To(Succeed())
	return r
}
