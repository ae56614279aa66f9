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

// outcome is the exit code and the output of a command.
type outcome struct {
	code     int
	out, err string
}

// rin runs the built binary to its end, in a directory of its own, with env added to a bare environment.
func rin(env []string, args ...string) outcome {
	GinkgoHelper()
	return rinIn(GinkgoT().TempDir(), "", env, args...)
}

// rinIn is [rin] in a given directory and with a given standard input.
func rinIn(dir, stdin string, env []string, args ...string) outcome {
	GinkgoHelper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR")}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	session, err := gexec.Start(cmd, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session, "3m").Should(gexec.Exit())
	return outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}
}

// report holds the members of a report.json that the tests look at.
type report struct {
	Schema  string
	Profile string
	Verdict struct {
		Decision string
		Reasons  []struct{ Text string }
	}
	Requirements []struct{ ID, Outcome, Reason string }
	Budget       struct{ Sent int }
	Made         struct {
		Values       []string
		Seed, Effort string
		Families     []family
	}
}

// family holds the members of a family of requests that the tests look at.
type family struct {
	Name                 string
	Kinds, Earlier, Ever int
	Drawn                []string
}

// outcomes returns the outcome of each requirement by its id.
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
