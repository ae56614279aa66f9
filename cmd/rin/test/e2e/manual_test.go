//go:build e2e

package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The manual", Ordered, func() {
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

	// Each shell reads its script and completes "rin explain BRR-0", which asks rin itself for the requirements.
	DescribeTable("has completion that works in", func(shell, script string) {
		if isMissing(shell) {
			Skip(shell + " is not installed")
		}
		file := map[string]string{"bash": "rin.bash", "zsh": "_rin", "fish": "rin.fish", "pwsh": "rin.ps1"}[shell]
		run := exec.Command(shell, "-c", script, shell, filepath.Join(dir, "completion", file))
		if shell == "fish" || shell == "pwsh" {
			run = exec.Command(shell, "-c", strings.ReplaceAll(script, "$1", filepath.Join(dir, "completion", file)))
		}
		run.Env = []string{"PATH=" + filepath.Dir(binary) + ":/usr/bin:/bin", "HOME=" + GinkgoT().TempDir(), "TERM=dumb"}
		out, err := run.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(And(ContainSubstring("BRR-02"), ContainSubstring("BRR-03")))
	},
		Entry("bash", "bash", `. "$1"; COMP_WORDS=(rin explain BRR-0); COMP_CWORD=2; COMP_LINE="rin explain BRR-0"; COMP_POINT=17; COMP_TYPE=9
			compopt() { :; }; _get_comp_words_by_ref() { cur=BRR-0; prev=explain; words=("${COMP_WORDS[@]}"); cword=2; }
			__start_rin rin BRR-0 explain; printf '%s\n' "${COMPREPLY[@]}"`),
		Entry("zsh", "zsh", `fpath=(${1:h} $fpath); autoload -U compinit; compinit -u -D
			_describe() { print -rl -- "${(@P)2}"; }; words=(rin explain BRR-0); CURRENT=3; _rin`),
		Entry("fish", "fish", `source $1; complete -C "rin explain BRR-0"`),
		Entry("PowerShell", "pwsh", `. $1; (TabExpansion2 -inputScript "rin explain BRR-0" -cursorColumn 17).CompletionMatches.CompletionText`),
	)
})
