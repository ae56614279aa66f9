package main_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/sandbox"
)

// registryDir is a directory of rin registry with the registry document beside it.
type registryDir struct {
	path string
	env  []string
}

// newRegistry makes a directory by rin registry init. policy follows in registry.yaml.
func newRegistry(policy string) registryDir {
	GinkgoHelper()
	r := registryDir{path: filepath.Join(GinkgoT().TempDir(), "reg")}
	got := rin(nil, "registry", "init", r.path, "--document", "ris.json")
	Expect(got.code).To(Equal(0), got.err)
	Expect(os.WriteFile(filepath.Join(r.path, "registry.yaml"), []byte("operator: https://registry.example\ndocument: ris.json\n"+policy), 0o600)).To(Succeed())
	return r
}

// entry is an entry of a registry document.
type entry struct {
	ID     string `json:"id"`
	OAuth2 string `json:"oauth2"`
	Info   string `json:"info"`
}

func entryOf(id, url string) entry {
	return entry{id, url + "/oauth/token", url + "/ris-synergy/info/v1/oauth/info/"}
}

func (r registryDir) write(entries ...entry) {
	GinkgoHelper()
	text, err := json.Marshal(map[string][]entry{"member": entries})
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(r.path, "ris.json"), text, 0o600)).To(Succeed())
}

func (r registryDir) rin(args ...string) outcome {
	GinkgoHelper()
	args = append([]string{"registry", args[0], r.path}, args[1:]...)
	return rin(r.env, args...)
}

// texts returns every file below the directory, decompressed.
func (r registryDir) texts() map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	Expect(filepath.WalkDir(r.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, text, err := test.ReadOutput(path)
		out[name] = text
		return err
	})).To(Succeed())
	return out
}

var _ = Describe("rin registry", func() {
	It("makes a directory whose policy is in order, with a key for its owner alone", func() {
		dir := filepath.Join(GinkgoT().TempDir(), "reg")
		got := rin(nil, "registry", "init", dir)
		Expect(got.code).To(Equal(0), got.err)
		info, err := os.Stat(filepath.Join(dir, "operator.key"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		Expect(filepath.Join(dir, "pages")).To(BeADirectory())
		repeated := rin(nil, "registry", "init", dir)
		Expect(repeated.code).To(Equal(2))
		Expect(repeated.err).To(ContainSubstring("exists already"))
	})

	It("tests a registry of right, deviating, hanging, lost and secretless nodes, and signs the results, without a secret anywhere", func() {
		good, bad, down := newNode(nil), newNode(nil, "token-status-201"), newNode(nil)
		down.Close()
		stop := make(chan struct{})
		hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-stop:
			case <-req.Context().Done():
			}
		}))
		DeferCleanup(func() { close(stop); hanging.CloseClientConnections(); hanging.Close() })
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nrun: {at-once: 4}\nnodes:\n  HANGING: {timeout: 1s, deadline: 4s}\n  OUT: {skip: moves house}\n  XZ: {}\n", good.clients[0].ClientID))
		r.write(entryOf("GOOD", good.URL), entryOf("BAD", bad.URL), entryOf("DOWN", down.URL), entryOf("HANGING", hanging.URL), entryOf("SECRETLESS", good.URL), entryOf("OUT", good.URL))
		r.env = []string{"SECRET_GOOD=" + good.clients[0].Secret, "SECRET_BAD=" + bad.clients[0].Secret, "SECRET_DOWN=canary-of-down", "SECRET_HANGING=canary-of-hanging"}

		got := r.rin("run")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`night of \d{4}-\d\d-\d\d: 1 passed, 1 failed, 3 untested\ndelayed check: 1 passed, 0 failed, 0 open\n`))
		Expect(got.out).To(And(ContainSubstring("left out    OUT: moves house"), ContainSubstring("status: 1 valid, 4 uncertified")))
		Expect(got.err).To(And(ContainSubstring("✗ failed   BAD"), ContainSubstring("TOK-02"), MatchRegexp(`\? untested HANGING .*the node does not answer in time`), MatchRegexp(`\? untested DOWN .*the node refuses connections: http://127.0.0.1:\d+ `),
			ContainSubstring("environment variable SECRET_SECRETLESS is not set"), ContainSubstring("names the node XZ, which the registry document lacks")))

		Expect(filepath.Join(r.path, "pages", "nodes", "BAD", "mark.jwt")).NotTo(BeAnExistingFile())
		Expect(filepath.Join(r.path, "pages", "nodes", "GOOD", "mark.jwt")).To(BeARegularFile())
		Expect(filepath.Join(r.path, "pages", "nodes", "BAD", "badge.svg")).To(BeARegularFile())
		run, err := filepath.Glob(filepath.Join(r.path, "nodes", "GOOD", "*"))
		Expect(err).NotTo(HaveOccurred())
		Expect(run).To(HaveLen(1))
		verified := rin(nil, "verify", run[0], "--key", filepath.Join(r.path, "operator.pub"))
		Expect(verified.code).To(Equal(0), verified.out)
		Expect(verified.out).To(And(ContainSubstring("a certificate of https://registry.example"), ContainSubstring("the node could know that it was tested")))
		Expect(os.ReadFile(filepath.Join(run[0], "report.md"))).To(ContainSubstring("| Run by | `https://registry.example` |"))

		for file, says := range map[string]string{"nodes/GOOD/mark.jwt": "a trust mark of https://registry.example for http://127.0.0.1", "status.jwt": ", valid, profile auth, last tested in the night of "} {
			path := filepath.Join(r.path, "pages", file)
			token := rin(nil, "verify", path, "--key", filepath.Join(r.path, "operator.pub"))
			Expect(token.code).To(Equal(0), token.out+token.err)
			Expect(token.out).To(And(HavePrefix("authentic and valid: signed by the key sha256:"), ContainSubstring(says)))
			keyless := rin(nil, "verify", path)
			Expect(keyless.code).To(Equal(3))
			Expect(keyless.out).To(ContainSubstring("without its signature a token says nothing"))
			text, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			forged := filepath.Join(GinkgoT().TempDir(), "forged.jwt")
			other := map[bool]byte{true: 'B', false: 'A'}[text[len(text)/2] == 'A']
			text[len(text)/2] = other
			Expect(os.WriteFile(forged, text, 0o600)).To(Succeed())
			Expect(rin(nil, "verify", forged, "--key", filepath.Join(r.path, "operator.pub")).code).To(Equal(1), file)
		}

		Expect(r.rin("site", "--reports").code).To(Equal(0))
		Expect(filepath.WalkDir(filepath.Join(r.path, "pages"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".html" {
				info, err := d.Info()
				Expect(err).NotTo(HaveOccurred())
				Expect(info.Size()).To(BeNumerically("<=", 500_000), path)
			}
			return err
		})).To(Succeed())
		Expect(os.ReadFile(filepath.Join(r.path, "pages", "nodes", "BAD", "report.html"))).To(And(ContainSubstring("TOK-02"), ContainSubstring(`href="run.zip"`)))
		unpacked := GinkgoT().TempDir()
		archive, err := zip.OpenReader(filepath.Join(r.path, "pages", "nodes", "GOOD", "run.zip"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.CopyFS(unpacked, archive)).To(Succeed())
		Expect(archive.Close()).To(Succeed())
		downloaded := rin(nil, "verify", filepath.Join(unpacked, filepath.Base(filepath.Dir(archive.File[0].Name))), "--key", filepath.Join(r.path, "operator.pub"))
		Expect(downloaded.code).To(Equal(0), downloaded.out+downloaded.err)
		Expect(downloaded.out).To(ContainSubstring("a certificate of https://registry.example"))
		explained := rin(nil, "verify", filepath.Join(r.path, "pages", "nodes", "GOOD", "run.zip"), "--key", filepath.Join(r.path, "operator.pub"), "--explain")
		Expect(explained.code).To(Equal(0), explained.out+explained.err)
		Expect(explained.out).To(And(HavePrefix("authentic and consistent: signed by"), ContainSubstring("✓ judgement"), ContainSubstring("it names the node GOOD, profile auth, info endpoint "+good.URL), MatchRegexp(`unzip -n \S+run.zip -d unpacked-run\n`), MatchRegexp(`envelope=unpacked-run/GOOD-\d{4}-\d\d-\d\d/certificate.intoto.json`)))
		Expect(rin(nil, "verify", filepath.Join(r.path, "pages", "nodes", "GOOD", "run.zip"), "--live", "--client-secret", "env:NONE").err).To(ContainSubstring("NONE"), "--live reads the run in the archive")
		other := filepath.Join(GinkgoT().TempDir(), "run.tgz")
		Expect(os.WriteFile(other, []byte("archive"), 0o600)).To(Succeed())
		unread := rin(nil, "verify", other)
		Expect(unread.code).To(Equal(2))
		Expect(unread.err).To(And(ContainSubstring("expected a folder or a ZIP archive"), ContainSubstring("unpack it into a folder of its own")))

		published := rin(nil, "verify", filepath.Join(r.path, "pages", "nodes", "GOOD"), "--key", filepath.Join(r.path, "operator.pub"))
		Expect(published.code).To(Equal(0), published.out+published.err)
		Expect(published.out).To(And(ContainSubstring("the files of the run are not here"), ContainSubstring("a certificate of https://registry.example"),
			ContainSubstring("it names the node GOOD, profile auth, info endpoint "+good.URL), MatchRegexp(`the trust mark beside it says that the node is valid until \d{4}-`)))
		alone := rin(nil, "verify", filepath.Join(r.path, "pages", "nodes", "GOOD", "certificate.intoto.json"))
		Expect(alone.out).To(And(HavePrefix("well-formed, not authenticated"), ContainSubstring("it names the node GOOD"), ContainSubstring("it says nothing about later times: mark.jwt")))
		var about struct {
			About []struct{ ID, Profile, Ends string }
		}
		Expect(json.Unmarshal([]byte(rin(nil, "verify", filepath.Join(r.path, "pages", "status.jwt"), "--key", filepath.Join(r.path, "operator.pub"), "--json").out), &about)).To(Succeed())
		Expect(about.About).To(HaveExactElements(And(HaveField("ID", "GOOD"), HaveField("Profile", "auth"), HaveField("Ends", Not(BeEmpty())))))

		repeated := r.rin("run")
		Expect(repeated.code).To(Equal(0), repeated.err)
		Expect(repeated.out).To(ContainSubstring("0 passed, 0 failed, 3 untested; 2 counted by an earlier run"), "what could not be tested is tried again, and what was judged is not")

		scan := test.NewSecretScan(good.clients[0].Secret, bad.clients[0].Secret, "canary-of-down", "canary-of-hanging")
		texts := r.texts()
		Expect(len(texts)).To(BeNumerically(">", 15))
		texts["stdout"], texts["stderr"] = got.out, got.err
		for name, text := range texts {
			_, _, found := scan.In(text)
			Expect(found).To(BeFalse(), name)
		}
	})

	It("says of a node that is down what its entry breaks, too, and ends with exit code 3 when no node at all could be tested", func() {
		down := newNode(nil)
		down.Close()
		r := newRegistry("defaults: {profile: auth, client-id: c, client-secret: env:SECRET}\n")
		r.env = []string{"SECRET=canary"}
		r.write(entry{"DOWN", down.URL + "/oauth/token", down.URL + "/info"})
		got := r.rin("run")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.err).To(And(MatchRegexp(`\? untested DOWN .*the node refuses connections: .*; besides, its entry breaks VER-01: the path of the info URL`), ContainSubstring("no node at all could be tested"), ContainSubstring("no certificate suffers")))
		Expect(got.out).To(ContainSubstring("0 passed, 0 failed, 1 untested"))
		r.env = nil
		got = r.rin("run")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.err).To(And(ContainSubstring("because no client with its secret is known"), ContainSubstring("name in "+filepath.Join(r.path, "registry.yaml")), Not(ContainSubstring("check the network"))))
	})

	It("does not say that no node could be tested when it was interrupted before the delayed checks", func() {
		good := newNode(nil)
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nrun: {delayed-check: 1h}\n", good.clients[0].ClientID))
		r.write(entryOf("GOOD", good.URL), entryOf("SECRETLESS", good.URL))
		cmd := exec.Command(binary, "registry", "run", r.path)
		cmd.Env = append(os.Environ(), "SECRET_GOOD="+good.clients[0].Secret)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session.Err, "60s").Should(gbytes.Say(`waiting 1 h.* for the delayed checks`))
		session.Interrupt().Wait("10s")
		Expect(session.ExitCode()).To(Equal(3))
		Expect(string(session.Out.Contents())).To(ContainSubstring("not run     GOOD: the run was interrupted"))
		Expect(string(session.Err.Contents())).NotTo(ContainSubstring("no node at all"))
	})

	It("says what to name for an admission when there is neither a file nor an entry", func() {
		r := newRegistry("")
		r.write(entryOf("XA", "https://xa.example"))
		got := r.rin("admit", "XC")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("there is no file XC, and the registry document has no entry with that id, only XA\nhint: name a file"))
	})

	It("is continued by the next run after it was killed, and refuses a second run meanwhile", func() {
		held := make(chan struct{})
		var reached atomic.Bool
		good := newNode(nil)
		slow := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				reached.Store(true)
				<-held
				next.ServeHTTP(w, req)
			})
		})
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nrun: {at-once: 1}\n", good.clients[0].ClientID))
		r.write(entryOf("A", good.URL), entryOf("B", slow.URL))
		r.env = []string{"SECRET_A=" + good.clients[0].Secret, "SECRET_B=" + slow.clients[0].Secret}
		cmd := exec.Command(binary, "registry", "run", r.path)
		cmd.Env = append(os.Environ(), r.env...)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(reached.Load, "20s").Should(BeTrue())
		second := r.rin("run")
		Expect(second.code).To(Equal(3))
		Expect(second.err).To(And(ContainSubstring("another rin registry command is using it"), ContainSubstring("nothing was changed")))
		session.Kill().Wait("10s")
		close(held)
		got := r.rin("run")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(ContainSubstring("1 passed, 0 failed, 0 untested; 1 counted by an earlier run"))
	})

	It("runs by shards, whose number a scheduler names, and joins their parts", func() {
		good := newNode(nil)
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", good.clients[0].ClientID))
		var entries []entry
		for i := range 4 {
			entries = append(entries, entryOf(fmt.Sprintf("N%d", i), good.URL))
		}
		r.write(entries...)
		secret := "SECRET=" + good.clients[0].Secret
		for _, env := range [][]string{{"JOB_COMPLETION_INDEX=0", "JOB_COMPLETIONS=3"}, {"SLURM_ARRAY_TASK_ID=6", "SLURM_ARRAY_TASK_MIN=5", "SLURM_ARRAY_TASK_COUNT=3"}} {
			r.env = append(env, secret)
			got := r.rin("run")
			Expect(got.code).To(Equal(0), got.err)
		}
		for _, env := range [][]string{{"CIRCLE_NODE_INDEX=1", "CIRCLE_NODE_TOTAL=3"}, {"BUILDKITE_PARALLEL_JOB=1", "BUILDKITE_PARALLEL_JOB_COUNT=3"}, {"AWS_BATCH_JOB_ARRAY_INDEX=1", "AWS_BATCH_JOB_ARRAY_SIZE=3"}} {
			r.env = append(env, secret)
			got := r.rin("run")
			Expect(got.code).To(Equal(0), got.err)
			Expect(got.out).To(ContainSubstring("part 2 of 3 is done"))
		}
		r.env = []string{secret}
		half := r.rin("merge")
		Expect(half.code).To(Equal(3))
		Expect(half.out).To(And(ContainSubstring("2 parts"), ContainSubstring("not run by any part: N")))
		r.env = []string{secret, "CI_NODE_INDEX=3", "CI_NODE_TOTAL=3"}
		Expect(r.rin("run").code).To(Equal(0))
		r.env = []string{secret}
		merged := r.rin("merge")
		Expect(merged.code).To(Equal(0), merged.out+merged.err)
		Expect(merged.out).To(ContainSubstring("status: 4 valid"))
		r.env = []string{secret, "CIRCLE_NODE_INDEX=0", "CIRCLE_NODE_TOTAL=1"}
		Expect(r.rin("run").out).To(And(ContainSubstring("4 counted by an earlier run"), Not(ContainSubstring("part"))), "CircleCI sets these for a job without parallelism, too")
		Expect(r.rin("run", "--shard", "4/3").code).To(Equal(2))
	})

	It("fails a node in the night that is good only to requests that name the suite", func() {
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.Method == http.MethodGet && !strings.HasPrefix(req.UserAgent(), "rin-conformance") {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, "{}")
					return
				}
				next.ServeHTTP(w, req)
			})
		})
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", n.clients[0].ClientID))
		r.write(entryOf("XA", n.URL))
		r.env = []string{"SECRET=" + n.clients[0].Secret}
		got := r.rin("run")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.err).To(MatchRegexp(`✓ passed   XA .*\n✗ failed   XA +delayed check: .*: the node answers differently when it is not tested: .*expected 401, got 200`))
		Expect(got.out).To(And(ContainSubstring(": 0 passed, 1 failed, 0 untested\ndelayed check: 0 passed, 1 failed, 0 open"), ContainSubstring("status: 1 uncertified")))
	})

	It("does not begin a night with a malformed registry document or policy", func() {
		r := newRegistry("defaults: {client-id: c, client-secret: env:S}\n")
		for text, message := range map[string]string{"<html>Sign in</html>": "got a page of HTML", "[]": "empty document", "{": "expected a registry document"} {
			Expect(os.WriteFile(filepath.Join(r.path, "ris.json"), []byte(text), 0o600)).To(Succeed())
			got := r.rin("run")
			Expect(got.code).To(Equal(3), got.out)
			Expect(got.err).To(And(ContainSubstring(message), ContainSubstring("nothing was tested")))
		}
		r = newRegistry("colour: red\n")
		got := r.rin("run")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring(`line 3: expected a key that is known here, got "colour"`))
	})

	It("admits the first node of a registry whose document is empty", func() {
		n := newNode(nil)
		r := newRegistry("defaults: {profile: auth}\n")
		Expect(os.WriteFile(filepath.Join(r.path, "ris.json"), []byte(`{"member":[]}`), 0o600)).To(Succeed())
		entry := filepath.Join(r.path, "xa.json")
		text, err := json.Marshal(entryOf("XA", n.URL))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(entry, text, 0o600)).To(Succeed())
		got := r.rin("admit", entry)
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(ContainSubstring("entry:         XA is in order"))
		Expect(got.err).NotTo(ContainSubstring("empty document"))
	})

	It("admits a node whose operator creates the client that was drawn, step by step", func() {
		var current atomic.Pointer[sandbox.Server]
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if s := current.Load(); s != nil {
					s.ServeHTTP(w, req)
					return
				}
				next.ServeHTTP(w, req)
			})
		})
		r := newRegistry("certificate: {control: required}\ndefaults: {profile: auth}\n")
		r.write(entryOf("OLD", "https://old.example"))
		file := filepath.Join(r.path, "xa.json")
		text, err := json.Marshal(entryOf("XA", n.URL))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(file, text, 0o600)).To(Succeed())

		got := r.rin("admit", file)
		Expect(got.code).To(Equal(3), got.err)
		Expect(got.out).To(And(ContainSubstring("entry:         XA is in order"), ContainSubstring("was refused, as it must be"), ContainSubstring("To the operator of the node XA"), ContainSubstring("The requests look like those")))
		drawn := regexp.MustCompile(`registry-[0-9a-f]{16}`).FindString(got.out)
		Expect(drawn).NotTo(BeEmpty())

		r.env = []string{"XA_SECRET=canary-of-an-admission"}
		early := r.rin("admit", file, "--client-secret", "env:XA_SECRET")
		Expect(early.code).To(Equal(3))
		Expect(early.out).To(And(ContainSubstring("refuses the client "+drawn+" with the secret that was given"), Not(ContainSubstring("canary"))))

		s, err := sandbox.New(sandbox.Config{Calls: 10, Loopback: true, Clients: []sandbox.ClientConfig{{ID: drawn, Secret: "canary-of-an-admission", Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF-1"}}})
		Expect(err).NotTo(HaveOccurred())
		current.Store(s)
		here := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(here, "xa.secret"), []byte("canary-of-an-admission\n"), 0o600)).To(Succeed())
		admitted := rinIn(here, "", nil, "registry", "admit", r.path, file, "--client-secret", "file:xa.secret")
		Expect(admitted.code).To(Equal(0), admitted.out+admitted.err)
		Expect(admitted.out).To(And(ContainSubstring("control:       proved on"), ContainSubstring("certification: Certified for profile auth"), ContainSubstring("blind: the node could not tell"), ContainSubstring("delayed check: passed on"), ContainSubstring("client-secret: file:"+filepath.Join(here, "xa.secret"))))
		patch, err := os.ReadFile(filepath.Join(r.path, "admissions", "XA.patch.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(patch).To(MatchJSON(`[{"op":"add","path":"/member/-","value":` + string(text) + `}]`))
		run, err := filepath.Glob(filepath.Join(r.path, "nodes", "XA", "*-admission"))
		Expect(err).NotTo(HaveOccurred())
		verified := rin(nil, "verify", run[0], "--key", filepath.Join(r.path, "operator.pub"))
		Expect(verified.code).To(Equal(0), verified.out)

		site := r.rin("site")
		Expect(site.out).To(ContainSubstring("1 node, no night yet: "))
		page, err := os.ReadFile(filepath.Join(r.path, "pages", "index.html"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(page)).To(And(ContainSubstring("No night has passed yet."), ContainSubstring("<caption><span>1 node, and")))
		Expect(verified.out).To(And(ContainSubstring("RIN_CONTROL_PROVEN, RIN_TESTED_BLIND"), ContainSubstring("the node could not know from the requests' headers")))
		Expect(os.ReadFile(filepath.Join(run[0], "report.md"))).To(ContainSubstring("Blind (--blind)"))
		for name, text := range r.texts() {
			Expect(strings.Contains(text, "canary-of-an-admission")).To(BeFalse(), name)
		}
	})

	It("proves control by a drawn text at a well-known place, and does not take an echo of the path for it", func() {
		var answer atomic.Value
		answer.Store("")
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if token, ok := strings.CutPrefix(req.URL.Path, "/.well-known/rin-challenge/"); ok {
					if text := answer.Load().(string); text != "" {
						token = text
					}
					fmt.Fprintln(w, token)
					return
				}
				next.ServeHTTP(w, req)
			})
		})
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", n.clients[0].ClientID))
		r.write(entryOf("XA", n.URL))
		r.env = []string{"SECRET=" + n.clients[0].Secret}
		got := r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(3), got.out+got.err)
		answer.Store(regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(got.out)[1])
		got = r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(ContainSubstring("patch:         none, the registry document has the entry"))
	})
})

var _ = Describe("The delayed check of an admission", func() {
	// proved begins the admission of a node whose control is proved, because it echoes the drawn text.
	proved := func(n node, answer *atomic.Value, policy string) registryDir {
		GinkgoHelper()
		r := newRegistry(fmt.Sprintf("%sdefaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", policy, n.clients[0].ClientID))
		r.write(entryOf("XA", n.URL))
		r.env = []string{"SECRET=" + n.clients[0].Secret}
		got := r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(3), got.out+got.err)
		answer.Store(regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(got.out)[1])
		return r
	}

	It("refuses a node that protects itself only from requests with the suite's headers: by the run, or by the check if registry.yaml forbids a blind run", func() {
		var answer atomic.Value
		var kind atomic.Bool
		n := newNode(func(next http.Handler) http.Handler {
			return answerChallenge(&answer)(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if !kind.Load() && req.Method == http.MethodGet && !strings.HasPrefix(req.UserAgent(), "rin-conformance") {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, "{}")
					return
				}
				next.ServeHTTP(w, req)
			}))
		})
		blind := proved(n, &answer, "")
		refused := blind.rin("admit", "XA", "--control", "well-known")
		Expect(refused.code).To(Equal(1), refused.out+refused.err)
		Expect(refused.out).To(And(ContainSubstring("certification: Not certified"), Not(ContainSubstring("delayed check"))))

		r := proved(n, &answer, "nodes: {XA: {blind: false}}\n")
		got := r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(And(ContainSubstring("certification: Certified"), Not(ContainSubstring("blind")), ContainSubstring("delayed check: the node answers differently when it is not tested"),
			ContainSubstring("without a credential: expected 401, got 200"), ContainSubstring("with a random credential: expected 401, got 200"), ContainSubstring("begins with a new certification")))
		Expect(filepath.Join(r.path, "pages", "nodes", "XA", "certificate.intoto.json")).NotTo(BeAnExistingFile())
		Expect(os.ReadFile(filepath.Join(r.path, "admissions", "XA.json"))).To(ContainSubstring(`"wrong": "expected 401, got 200"`), "what was seen is kept")
		kind.Store(true)
		repeated := r.rin("admit", "XA", "--control", "well-known")
		Expect(repeated.code).To(Equal(0), repeated.out+repeated.err)
		Expect(repeated.out).To(And(ContainSubstring("and not in its delayed check"), Not(ContainSubstring("               in the run of"))), "the run of a node that was found out does not count")
		Expect(filepath.Join(r.path, "pages", "nodes", "XA", "certificate.intoto.json")).To(BeARegularFile())
	})

	It("waits, can be interrupted, and is continued without a second run", func() {
		var answer atomic.Value
		var calls atomic.Int32
		n := newNode(func(next http.Handler) http.Handler {
			return answerChallenge(&answer)(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				calls.Add(1)
				next.ServeHTTP(w, req)
			}))
		})
		r := proved(n, &answer, "certificate: {delayed-check: 1h}\n")
		cmd := exec.Command(binary, "registry", "admit", r.path, "XA", "--control", "well-known")
		cmd.Env = append(os.Environ(), r.env...)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session.Err, "60s").Should(gbytes.Say(`waiting 1 h.* for the delayed check`))
		session.Interrupt().Wait("10s")
		Expect(session.ExitCode()).To(Equal(3))
		Expect(string(session.Err.Contents())).To(And(ContainSubstring("the delayed check of XA is due at"), ContainSubstring("the same command continues")))

		file := filepath.Join(r.path, "admissions", "XA.json")
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		text = regexp.MustCompile(`"due": "[^"]*"`).ReplaceAll(text, []byte(`"due": "2026-01-01T00:00:00Z"`))
		Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
		before := calls.Load()
		got := r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(And(ContainSubstring("in the run of"), ContainSubstring("delayed check: passed on")))
		Expect(calls.Load()-before).To(BeEquivalentTo(4), "a token, and three calls")
	})
})

var _ = Describe("rin registry try", func() {
	It("says from kept evidence which nodes a catalogue or a policy would cost or bring a certificate", func() {
		good, brief, wrong := newNode(nil), newNode(nil, "refresh-token-issued"), newNode(nil, "token-status-201")
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nrun: {at-once: 2}\n", good.clients[0].ClientID))
		r.write(entryOf("BRIEF", brief.URL), entryOf("GONE", good.URL), entryOf("GOOD", good.URL), entryOf("WRONG", wrong.URL), entryOf("UNTESTED", good.URL))
		r.env = []string{"SECRET_GOOD=" + good.clients[0].Secret, "SECRET_GONE=" + good.clients[0].Secret, "SECRET_BRIEF=" + brief.clients[0].Secret, "SECRET_WRONG=" + wrong.clients[0].Secret}
		Expect(r.rin("run").code).To(Equal(0))
		file := func(name, text string) string {
			GinkgoHelper()
			path := filepath.Join(r.path, name)
			Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
			return path
		}

		same := r.rin("try")
		Expect(same.code).To(Equal(0), same.out+same.err)
		Expect(same.out).To(And(ContainSubstring("0 nodes would lose their certificate\n"), ContainSubstring("for 4 nodes nothing changes"), MatchRegexp(`1 node cannot be tried\n  UNTESTED +uncertified\n +it was never judged`)))

		catalogue := rin(nil, "requirements", "--format", "json")
		Expect(r.rin("try", file("own.json", catalogue.out)).out).To(Equal(same.out), "the catalogue that rin prints is its own")

		stricter := file("stricter.yaml", "- {id: TOK-11, gate: gating}\n- {id: TOK-02, gate: advice}\n")
		got := r.rin("try", stricter)
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(And(
			ContainSubstring("with 2 changes\n  TOK-11 gating instead of advice\n  TOK-02 advice instead of gating\n"),
			MatchRegexp(`1 node would lose its certificate\n  BRIEF +valid, then suspended; evidence of \d{4}-\d\d-\d\d, profile auth\n +TOK-11: `),
			MatchRegexp(`1 node would get a certificate\n  WRONG +uncertified, then valid;`), ContainSubstring("for 2 nodes nothing changes"),
		))

		evidence, err := filepath.Glob(filepath.Join(r.path, "nodes", "GONE", "*", "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		Expect(evidence).To(HaveLen(1))
		Expect(os.Remove(evidence[0])).To(Succeed())
		withoutRun := r.rin("try")
		Expect(withoutRun.code).To(Equal(3), "a node with a certificate could not be tried")
		Expect(withoutRun.out).To(MatchRegexp(`2 nodes cannot be tried\n  GONE +valid\n +the evidence of \S+ is missing`))

		wider := file("wider.yaml", fmt.Sprintf("operator: https://registry.example\ndocument: ris.json\ncertificate: {control: required}\ndefaults: {profile: api, client-id: %s, client-secret: env:S}\nnodes:\n  GONE: {withdrawn: on its own wish}\n", good.clients[0].ClientID))
		listed := r.rin("try", "--policy", wider, "--json")
		Expect(listed.code).To(Equal(3), listed.out+listed.err)
		var trial struct {
			Schema  string
			Effects map[string]int
			Nodes   []struct {
				ID, Effect, Before, After, Profile string
				Reasons                            []string
			}
		}
		Expect(json.Unmarshal([]byte(listed.out), &trial)).To(Succeed())
		Expect(trial.Schema).To(Equal("rin.registry-trial/v1"))
		Expect(trial.Nodes).To(HaveLen(5))
		Expect(trial.Nodes[2].ID).To(Equal("GOOD"))
		Expect(trial.Nodes[2].Effect).To(Equal("open"), "no request of an auth run shows what profile api asks for")
		Expect(trial.Nodes[2].Profile).To(Equal("api"))
		Expect(trial.Nodes[2].Reasons).NotTo(BeEmpty())

		catalogue = r.rin("try", "--policy", file("withdrawn.yaml", fmt.Sprintf("operator: https://registry.example\ndocument: ris.json\ndefaults: {profile: auth, client-id: %s, client-secret: env:S}\nnodes: {GOOD: {withdrawn: on its own wish}}\n", good.clients[0].ClientID)))
		Expect(catalogue.code).To(Equal(1))
		Expect(catalogue.out).To(MatchRegexp(`1 node would lose its certificate\n  GOOD +valid, then withdrawn; .*\n +on its own wish\n`))

		for message, args := range map[string][]string{
			"line 1: expected a key":    {"try", "--policy", file("bad.yaml", "colour: red\n")},
			"expected a list of":        {"try", file("bad.json", "{}")},
			"no such file or directory": {"try", filepath.Join(r.path, "nothing")},
		} {
			got := r.rin(args...)
			Expect(got.code).To(Equal(2), "%q: %s", args, got.out)
			Expect(got.err).To(And(ContainSubstring(message), ContainSubstring("hint: ")))
		}
	})
})
