package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin sign and rin verify", Ordered, func() {
	var dir, keys string
	BeforeAll(func() {
		keys = GinkgoT().TempDir()
		got := rinIn(keys, "", nil, "sign", "--new-key", "operator.key")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(ContainSubstring("operator.pub (hand it out)"))
		n := newNode(nil)
		dir = GinkgoT().TempDir()
		got = rin(n.env(), append([]string{"certify", "--report-dir", dir}, n.flags()...)...)
		Expect(got.code).To(Equal(0), got.out+got.err)
	})
	key := func(name string) string { return filepath.Join(keys, name) }
	// change edits a file for one test.
	change := func(name string, edit func(string) string) {
		GinkgoHelper()
		path := filepath.Join(dir, name)
		before, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(edit(string(before))).NotTo(Equal(string(before)))
		Expect(os.WriteFile(path, []byte(edit(string(before))), 0o600)).To(Succeed())
		DeferCleanup(os.WriteFile, path, before, os.FileMode(0o600))
	}

	It("makes a key that its owner alone can read, and never replaces one", func() {
		info, err := os.Stat(key("operator.key"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		got := rinIn(keys, "", nil, "sign", "--new-key", "operator.key")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("file exists"))
	})

	It("says first that a run without a signature is consistent, not authenticated", func() {
		got := rin(nil, "verify", dir)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(HavePrefix("consistent, not authenticated: there is no signature\n"))
		Expect(got.out).To(And(ContainSubstring("the report says: Certified for profile funding"),
			ContainSubstring("· entry      nothing, because no registry document was given (--registry)\n"),
			MatchRegexp(`the run tested: token endpoint http\S+/oauth/token, info endpoint http\S+/info/`)))
		for _, flag := range [][]string{{"--require-signature"}, {"--key", key("operator.pub")}} {
			got := rin(nil, append([]string{"verify", dir}, flag...)...)
			Expect(got.code).To(Equal(3), got.out)
			Expect(got.out).To(HavePrefix("could not be decided: signature: nothing, because the files of the run hold no signature: "))
		}
	})

	It("verifies evidence alone", func() {
		got := rin(nil, "verify", filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(ContainSubstring("there is no report.json"))
	})

	It("signs a run, and verifies it with the public key", func() {
		got := rin(nil, "sign", dir, "--key", key("operator.key"))
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(MatchRegexp(`a claim: (PASSED|WARNED), 1\d\d requirements passed, [01] warned, 0 failed`))
		for _, path := range []string{dir, filepath.Join(dir, "claim.intoto.json")} {
			got = rin(nil, "verify", path, "--key", key("operator.pub"))
			Expect(got.code).To(Equal(0), got.out)
			Expect(got.out).To(HavePrefix("authentic and consistent: signed by the key sha256:"))
		}
		got = rin(nil, "verify", dir)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(HavePrefix("consistent, not authenticated: the signature was not checked (--key)\n"))
		Expect(rin(nil, "verify", dir, "--require-signature").code).To(Equal(3))
	})

	It("verifies a statement that was copied without the files of its run", func() {
		alone := filepath.Join(GinkgoT().TempDir(), "claim.intoto.json")
		text, err := os.ReadFile(filepath.Join(dir, "claim.intoto.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(alone, text, 0o600)).To(Succeed())
		got := rin(nil, "verify", alone, "--key", key("operator.pub"))
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(And(MatchRegexp(`^authentic: signed by the key sha256:[0-9a-f]+; the files of the run are not here\n`), ContainSubstring("the statement is a claim: ")))
		got = rin(nil, "verify", alone)
		Expect(got.code).To(Equal(0))
		Expect(got.out).To(HavePrefix("well-formed, not authenticated"))
		Expect(rin(nil, "verify", alone, "--require-signature").code).To(Equal(3))
		Expect(rin(nil, "verify", alone, "--live", "--client-secret", "env:X").code).To(Equal(2))
		Expect(os.WriteFile(alone, []byte(strings.Replace(string(text), "payload", "payl0ad", 1)), 0o600)).To(Succeed())
		Expect(rin(nil, "verify", alone, "--key", key("operator.pub")).code).To(Equal(1))
	})

	It("names what does not hold and where, with exit code 1", func() {
		change("report.html", func(text string) string { return strings.Replace(text, "Certified", "Beatified", 1) })
		got := rin(nil, "verify", dir, "--key", key("operator.pub"))
		Expect(got.code).To(Equal(1), got.out)
		Expect(got.out).To(HavePrefix("does not hold: files: report.html\n"))
		Expect(got.out).To(MatchRegexp(`✗ files .*\n +report.html\n +expected the digest sha256:[0-9a-f]{64}, got sha256:[0-9a-f]{64}\n`))
		Expect(got.out).To(ContainSubstring("· judgement  nothing, because the step files does not hold"))
		got = rin(nil, "sign", dir, "--key", key("operator.key"))
		Expect(got.code).To(Equal(1))
		Expect(got.err).To(MatchRegexp(`is not signed: judgement: report.html, line \d+, byte \d+: expected "Certified`))
	})

	It("prints the steps as JSON", func() {
		got := rin(nil, "verify", dir, "--key", key("operator.pub"), "--json")
		Expect(got.code).To(Equal(0), got.err)
		var v struct {
			Schema, State, SignedBy string
			Authenticated           bool
			Tested                  struct{ ID, OAuth2, Info string }
			Steps                   []struct{ Step, State string }
		}
		Expect(json.Unmarshal([]byte(got.out), &v)).To(Succeed())
		Expect(v.Schema).To(Equal("rin.verification/v1"))
		Expect(v.State).To(Equal("holds"))
		Expect(v.Authenticated).To(BeTrue())
		Expect(v.Steps).To(HaveLen(6))
		Expect(v.Steps[:5]).To(HaveEach(HaveField("State", "holds")))
		Expect(v.Steps[5]).To(And(HaveField("Step", "entry"), HaveField("State", "not checked")))
		Expect(v.Tested.OAuth2).To(HaveSuffix("/oauth/token"))
	})

	It("says how to check signature and digests without rin", func() {
		got := rin(nil, "verify", dir, "--key", key("operator.pub"), "--explain")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(And(ContainSubstring("openssl pkeyutl -verify -rawin -pubin"), ContainSubstring("securesystemslib"),
			ContainSubstring("cosign verify-blob-attestation --insecure-ignore-tlog --key \"$key\" --type https://in-toto.io/attestation/test-result/v0.1 "), ContainSubstring("sha256sum -c")))
	})

	It("accepts a key of another owner that a group can read, as Kubernetes mounts it, and refuses one that everybody can read", func() {
		mounted := filepath.Join(GinkgoT().TempDir(), "operator.key")
		Expect(os.WriteFile(mounted, read(filepath.Dir(key("operator.key")), "operator.key"), 0o440)).To(Succeed())
		if err := os.Chown(mounted, os.Geteuid()+1, -1); err != nil {
			Skip("*** this user cannot give a file to another one ***")
		}
		got := rin(nil, "sign", dir, "--key", mounted)
		Expect(got.code).To(Equal(0), got.err)
		Expect(os.Chmod(mounted, 0o444)).To(Succeed())
		got = rin(nil, "sign", dir, "--key", mounted)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("can be read by others (mode 0444)"))
	})

	It("refuses keys that others can read, keys of the wrong kind, and what is not a run, with exit code 2", func() {
		Expect(os.Chmod(key("operator.key"), 0o644)).To(Succeed())
		got := rin(nil, "sign", dir, "--key", key("operator.key"))
		Expect(os.Chmod(key("operator.key"), 0o600)).To(Succeed())
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("can be read by others (mode 0644)\nhint: chmod 600"))
		for message, args := range map[string][]string{
			"got a private key":     {"verify", dir, "--key", key("operator.key")},
			"expected --key":        {"sign", dir},
			"signs nothing":         {"sign", dir, "--new-key", "x.key"},
			"expected a public key": {"verify", dir, "--key", filepath.Join(dir, "report.md")},
			"evidence.jsonl.gz":     {"verify", keys},
			"no such file":          {"verify", filepath.Join(dir, "nothing")},
		} {
			got := rin(nil, args...)
			Expect(got.code).To(Equal(2), "%q", args)
			Expect(got.err).To(And(ContainSubstring(message), ContainSubstring("hint: ")), "%q", args)
		}
	})

	It("does not sign a partial run", func() {
		n := newNode(nil)
		got, partial := n.certify("--only", "TOK-01")
		Expect(got.code).To(Equal(0), got.err)
		got = rin(nil, "sign", partial, "--key", key("operator.key"))
		Expect(got.code).To(Equal(3))
		Expect(got.err).To(ContainSubstring("a partial run (--only) yields no claim"))
	})

	It("verifies a report that rin judge made for another profile", func() {
		secondDir := GinkgoT().TempDir()
		got := rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"), "--profile", "auth", "--report-dir", secondDir)
		Expect(got.code).To(Equal(0), got.err)
		evidence, err := os.ReadFile(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(secondDir, "evidence.jsonl.gz"), evidence, 0o600)).To(Succeed())
		got = rin(nil, "verify", secondDir)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(ContainSubstring("the report says: Certified for profile auth"))
	})
})

var _ = Describe("rin verify --live", func() {
	It("tests the node again, by a drawn sample or completely, and finds a run that contradicts the node", func() {
		faulty := &atomic.Bool{}
		deviating := newNode(nil, "token-status-201")
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if faulty.Load() {
					deviating.sandbox.ServeHTTP(w, req)
					return
				}
				next.ServeHTTP(w, req)
			})
		})
		got, dir := n.certify("--profile", "auth")
		Expect(got.code).To(Equal(0), got.out+got.err)
		verify := func(flags ...string) outcome {
			secret := n.clients[0].Secret
			if faulty.Load() {
				secret = deviating.clients[0].Secret
			}
			return rin([]string{"SECRET=" + secret}, append([]string{"verify", dir, "--client-secret", "env:SECRET"}, flags...)...)
		}
		sample := verify("--live")
		Expect(sample.code).To(Equal(0), sample.out+sample.err)
		Expect(sample.out).To(MatchRegexp(`✓ live +12 requirements, drawn by the SHA-256 of the digest [0-9a-f]{64} and the nonce [0-9a-f]{32}; \d+ of 12 judged again alike`))
		Expect(verify("--live").out).NotTo(Equal(sample.out), "each sample has its own nonce")
		all := verify("--live=all")
		Expect(all.code).To(Equal(0), all.out+all.err)
		Expect(all.out).To(MatchRegexp(`✓ live +all requirements; \d\d+ of \d+ judged again alike`))

		faulty.Store(true)
		lie := verify("--live=all")
		Expect(lie.code).To(Equal(1), lie.out+lie.err)
		Expect(lie.out).To(And(HavePrefix("does not hold: live: TOK-02"), ContainSubstring("the run says pass, the node shows fail now")))
		n.Close()
		lost := verify("--live=all")
		Expect(lost.code).To(Equal(3), lost.out+lost.err)
	})
})
