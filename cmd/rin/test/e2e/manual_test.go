//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// bashCompletion has functions that the script for bash calls.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

var _ = Describe("The manual", Ordered, ContinueOnFailure, func() {
	var dir string
	BeforeAll(func() {
		dir = GinkgoT().TempDir()
		out, err := exec.Command(binary, "manual", dir).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	})

	It("has man pages that man formats without a warning", func() {
		if isMissing("man") {
			Skip("man is not installed")
		}
		pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
		Expect(err).NotTo(HaveOccurred())
		Expect(len(pages)).To(BeNumerically(">", 30))
		for _, page := range pages {
			show := exec.Command("man", "--warnings", "-l", page)
			show.Env = []string{"PATH=/usr/bin:/bin", "MANWIDTH=90", "LC_ALL=C.UTF-8", "MANPAGER=cat"}
			var problems strings.Builder
			show.Stderr = &problems
			out, err := show.Output()
			Expect(err).NotTo(HaveOccurred(), page)
			Expect(problems.String()).To(BeEmpty(), page)
			Expect(string(out)).To(And(ContainSubstring("SYNOPSIS"), Not(ContainSubstring(`\f`)), Not(ContainSubstring(`\-`))), page)
		}
	})

	// Each shell reads its script and completes a command, a flag, and "rin explain BRR-0", for which the script asks rin itself for the requirements.
	DescribeTable("has completion that works in", func(shell, script string) {
		if isMissing(shell) {
			Skip(shell + " is not installed")
		}
		file := map[string]string{"bash": "rin.bash", "zsh": "_rin", "fish": "rin.fish", "pwsh": "rin.ps1"}[shell]
		complete := func(line string) string {
			GinkgoHelper()
			fill := strings.NewReplacer("@FILE@", filepath.Join(dir, "completion", file), "@LINE@", line, "@LENGTH@", strconv.Itoa(len(line)))
			run := exec.Command(shell, "-c", fill.Replace(script))
			run.Env = []string{"PATH=" + filepath.Dir(binary) + ":/usr/bin:/bin", "HOME=" + GinkgoT().TempDir(), "TERM=dumb"}
			out, err := run.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		Expect(complete("rin cert")).To(MatchRegexp(`(?m)^certify\b`))
		Expect(complete("rin certify --client-i")).To(And(MatchRegexp(`(?m)^--client-id\b`), ContainSubstring("--client-id2"), Not(ContainSubstring("--client-secret"))))
		Expect(complete("rin explain BRR-0")).To(And(ContainSubstring("BRR-02"), ContainSubstring("BRR-03")))
		Expect(complete("rin quite-unknown-")).NotTo(ContainSubstring("certify"))
	},
		Entry("bash", "bash", `. @FILE@; COMP_LINE="@LINE@"; COMP_POINT=@LENGTH@; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
			compopt() { :; }; _get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
			__start_rin rin "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\n' "${COMPREPLY[@]}"`),
		Entry("zsh", "zsh", `fpath=(${$(print @FILE@):h} $fpath); autoload -U compinit; compinit -u -D
			_describe() { print -rl -- "${(@P)2}"; }; words=(${=$(print @LINE@)}); CURRENT=$#words; _rin || true`),
		Entry("fish", "fish", `source @FILE@; complete -C "@LINE@"`),
		Entry("PowerShell", "pwsh", `. @FILE@; (TabExpansion2 -inputScript "@LINE@" -cursorColumn @LENGTH@).CompletionMatches.CompletionText`),
	)

	// Here the shells run in a terminal, and the test presses the key as a person does.
	DescribeTable("completes at the key tab in", func(shell, start string) {
		if isMissing(shell, "tmux") {
			Skip(shell + " or tmux is not installed")
		}
		if _, err := os.Stat(bashCompletion); shell == "bash" && err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: the package bash-completion is not installed, so completion in bash was not tried at its prompt ***\n\n")
			Skip("bash-completion is not installed")
		}
		home := GinkgoT().TempDir()
		start = strings.ReplaceAll(start, "DIR", filepath.Join(dir, "completion"))
		socket := filepath.Join(home, "tmux")
		tmux := func(args ...string) string {
			GinkgoHelper()
			cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
			cmd.Env = []string{"PATH=" + filepath.Dir(binary) + ":/usr/bin:/bin", "HOME=" + home, "TERM=xterm", "LC_ALL=C.UTF-8"}
			out, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		rc := map[string]string{"zsh": ".zshrc", "fish": ".config/fish/config.fish", "bash": ".bashrc"}[shell]
		Expect(os.MkdirAll(filepath.Dir(filepath.Join(home, rc)), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(home, rc), []byte(start), 0o600)).To(Succeed())
		tmux("new-session", "-d", "-x", "100", "-y", "30", shell)
		DeferCleanup(func() { tmux("kill-server") })
		screen := func() string { return tmux("capture-pane", "-p") }
		Eventually(screen, "20s").Should(ContainSubstring("ready"))
		tmux("send-keys", "rin cert", "Tab")
		Eventually(screen, "20s").Should(ContainSubstring("rin certify"))
		tmux("send-keys", "C-u")
		tmux("send-keys", "rin certify --other-client-i", "Tab")
		Eventually(screen, "20s").Should(ContainSubstring("rin certify --other-client-id"))
	},
		Entry("bash", "bash", ". "+bashCompletion+"; . DIR/rin.bash; PS1='ready> '\n"),
		Entry("zsh", "zsh", "fpath=(DIR $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '\n"),
		Entry("fish", "fish", "source DIR/rin.fish; function fish_prompt; echo 'ready> '; end; set -g fish_greeting\n"),
	)
})
