package main_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	nodereport "github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
)

// sandboxNetwork is a registry document of nodes that sandboxes serve. Nodes of one preset share a sandbox; each that deviates has its own.
type sandboxNetwork struct {
	entries []map[string]any
	secrets map[string]string // by node id
	policy  map[string]string // settings of a node in registry.yaml besides its client
	byName  map[string]*sandbox.Server
}

// networkClient is the id of the first client of every sandbox.
const networkClient = "registry"

func newSandboxNetwork() *sandboxNetwork {
	return &sandboxNetwork{secrets: map[string]string{}, policy: map[string]string{}, byName: map[string]*sandbox.Server{}}
}

// serve starts a sandbox and returns its URL.
func (n *sandboxNetwork) serve(preset sandbox.Preset, wrap func(http.Handler) http.Handler, deviations ...string) (*sandbox.Server, string) {
	GinkgoHelper()
	s, err := sandbox.New(sandbox.Config{
		Preset: preset, Calls: 4, Loopback: true, Deviations: deviations, AsOf: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		Clients: []sandbox.ClientConfig{{ID: networkClient, Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF-1"}},
	})
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = s
	if wrap != nil {
		handler = wrap(s)
	}
	server := httptest.NewServer(handler)
	DeferCleanup(func() { server.CloseClientConnections(); server.Close() })
	return s, server.URL
}

// add adds a node with the entry that its sandbox publishes. Several nodes may be of one sandbox.
func (n *sandboxNetwork) add(id string, s *sandbox.Server, url string) {
	GinkgoHelper()
	answer, err := http.Get(url + "/registry/registry.json")
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var document struct{ Member []map[string]any }
	text, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	if json.Unmarshal(text, &document) != nil || len(document.Member) == 0 {
		Expect(json.Unmarshal(text, &document.Member)).To(Succeed())
	}
	entry := document.Member[0]
	entry["id"] = id
	n.entries = append(n.entries, entry)
	n.secrets[id] = s.Credentials()[0].Secret
	n.byName[id] = s
}

// addAt adds a node at a URL where no sandbox answers.
func (n *sandboxNetwork) addAt(id, url, policy string) {
	n.entries = append(n.entries, map[string]any{"id": id, "acronym": id, "name": id, "contact": "a@node.example", "oauth2": url + "/oauth/token", "info": url + "/ris-synergy/info/v1/oauth/info/"})
	n.secrets[id], n.policy[id] = "canary-of-"+id, policy
}

func (n *sandboxNetwork) document() []byte {
	GinkgoHelper()
	text, err := json.Marshal(map[string]any{"member": n.entries})
	Expect(err).NotTo(HaveOccurred())
	return text
}

// yaml returns the text of registry.yaml for the network.
func (n *sandboxNetwork) yaml(more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "operator: https://registry.example\ndocument: ris.json\n%sdefaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nnodes:\n", more, networkClient)
	for _, e := range n.entries {
		if p := n.policy[e["id"].(string)]; p != "" {
			fmt.Fprintf(&b, "  %s: {%s}\n", e["id"], p)
		}
	}
	return b.String()
}

func (n *sandboxNetwork) getenv(name string) (string, bool) {
	secret, set := n.secrets[strings.TrimPrefix(name, "SECRET_")]
	return secret, set
}

// hang serves a node that never answers.
func hang() string {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-stop:
		case <-req.Context().Done():
		}
	}))
	DeferCleanup(func() { close(stop); server.CloseClientConnections(); server.Close() })
	return server.URL
}

func closedPort() string {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

// gatingFaults returns deviations with which a node is not certified for the profile auth. They
// break requirements of different groups.
func gatingFaults() []string {
	return []string{"token-status-201", "token-cacheable", "wrong-secret-status-200", "info-open", "anonymous-without-challenge", "head-open", "grant-type-ignored", "token-type-missing", "token-text-plain", "get-yields-token"}
}

var _ = Describe("Ten nights of twenty sandboxes", func() {
	It("give each node the status that its nights earn, and sign and show nothing else", func() {
		n := newSandboxNetwork()
		presets := sandbox.Presets()
		for i, p := range presets {
			s, url := n.serve(p, nil)
			for j := range 2 {
				n.add(fmt.Sprintf("GOOD-%d%d", i, j), s, url)
			}
		}
		for i := range 5 {
			s, url := n.serve(presets[0], nil, gatingFaults()[i])
			n.add(fmt.Sprintf("WRONG-%d", i), s, url)
		}
		for _, id := range []string{"BREAKS", "MENDS", "ROTATES"} {
			s, url := n.serve(presets[0], nil)
			n.add(id, s, url)
		}
		Expect(n.byName["MENDS"].Deviate("token-status-201")).To(Succeed())
		n.addAt("HANGS", hang(), "timeout: 500ms, deadline: 2s")
		n.addAt("DOWN", closedPort(), "")
		Expect(n.entries).To(HaveLen(20))

		dir := registry.Dir(GinkgoT().TempDir())
		Expect(os.MkdirAll(dir.Pages(), 0o755)).To(Succeed())
		policy, err := registry.ReadPolicy([]byte(n.yaml("run: {at-once: 4}\ncertificate: {stale-after: 4d}\n")))
		Expect(err).NotTo(HaveOccurred())
		document, err := registry.ReadDocument(n.document())
		Expect(err).NotTo(HaveOccurred())
		_, key, err := ed25519.GenerateKey(nil)
		Expect(err).NotTo(HaveOccurred())
		var night atomic.Int32
		now := func() time.Time {
			return time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC).AddDate(0, 0, int(night.Load()))
		}
		o := registry.Operator{Dir: dir, Policy: policy, Now: now, Secrets: registry.Secrets{Environment: n.getenv}, Certify: certifyInProcess}
		h, err := registry.OpenHistory(dir.History())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(h.Close)
		for i := range 10 {
			night.Store(int32(i))
			switch i {
			case 3:
				Expect(n.byName["BREAKS"].Deviate("info-open")).To(Succeed())
				Expect(n.byName["MENDS"].Deviate()).To(Succeed())
			case 5:
				n.secrets["ROTATES"] = "canary-of-an-old-secret"
			}
			sum, err := o.Run(context.Background(), h, nil, document, registry.Shard{}, nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(sum.Left).To(BeEmpty())
			_, err = o.Publish(h, key, "test")
			Expect(err).NotTo(HaveOccurred())
		}

		strips := map[string]string{"WRONG-0": "ffffffffff", "BREAKS": "pppfffffff", "MENDS": "fffppppppp", "ROTATES": "pppppuuuuu", "HANGS": "uuuuuuuuuu", "DOWN": "uuuuuuuuuu"}
		statuses := map[string]registry.Status{"BREAKS": registry.Suspended, "MENDS": registry.Valid, "ROTATES": registry.Stale, "HANGS": registry.Uncertified, "DOWN": registry.Uncertified}
		nodes := 0
		for node, err := range h.Nodes() {
			Expect(err).NotTo(HaveOccurred())
			nodes++
			outcomes, err := h.Outcomes(node.ID, "")
			Expect(err).NotTo(HaveOccurred())
			strip := ""
			for _, out := range outcomes {
				strip += string(out.Result[0])
			}
			want, status := strips[node.ID], statuses[node.ID]
			switch {
			case strings.HasPrefix(node.ID, "GOOD"):
				want, status = "pppppppppp", registry.Valid
			case strings.HasPrefix(node.ID, "WRONG"):
				want, status = "ffffffffff", registry.Uncertified
			}
			Expect(strip).To(Equal(want), "%s: %s", node.ID, node.Outcome.Why)
			Expect(node.Status).To(Equal(status), "%s: %s", node.ID, node.Reason)
		}
		Expect(nodes).To(Equal(20))

		list, err := os.ReadFile(dir.StatusList())
		Expect(err).NotTo(HaveOccurred())
		valid, err := registry.ReadList(string(list), key.Public().(ed25519.PublicKey), now())
		Expect(err).NotTo(HaveOccurred())
		Expect(valid.Valid).To(HaveLen(11), "the ten good ones, and the one that mended itself")
		_, err = o.WriteSite(context.Background(), h, registry.PublishReports)
		Expect(err).NotTo(HaveOccurred())
		page, err := os.ReadFile(filepath.Join(dir.Public("BREAKS"), "index.html"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(page)).To(And(ContainSubstring("10 nights: 3 passed, 7 failed, 0 untested"), ContainSubstring("BRR-01 failed")))
	})
})

// The night of two hundred takes some minutes: RIN_REGISTRY_LARGE=1 go test ./cmd/rin -v -ginkgo.v -ginkgo.focus "two hundred" runs it and prints its figures.
var _ = Describe("One night of two hundred sandboxes", func() {
	It("tests all of them, of which 30 deviate, 5 hang, 3 are down and 2 change meanwhile", func() {
		if os.Getenv("RIN_REGISTRY_LARGE") == "" {
			Skip("RIN_REGISTRY_LARGE is not set")
		}
		n := newSandboxNetwork()
		presets := sandbox.Presets()
		for i, p := range presets {
			s, url := n.serve(p, nil)
			for j := range 32 {
				n.add(fmt.Sprintf("GOOD-%d-%d", i, j), s, url)
			}
		}
		for i, fault := range gatingFaults() {
			s, url := n.serve(presets[0], nil, fault)
			for j := range 3 {
				n.add(fmt.Sprintf("WRONG-%d-%d", i, j), s, url)
			}
		}
		for i := range 2 {
			var requests atomic.Int32
			var s *sandbox.Server
			var url string
			s, url = n.serve(presets[0], func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					if requests.Add(1) == 40 {
						_ = s.Deviate("info-open")
					}
					next.ServeHTTP(w, req)
				})
			})
			n.add(fmt.Sprintf("CHANGES-%d", i), s, url)
		}
		silent, closed := hang(), closedPort()
		for i := range 5 {
			n.addAt(fmt.Sprintf("HANGS-%d", i), silent, "timeout: 2s, deadline: 10s")
		}
		for i := range 3 {
			n.addAt(fmt.Sprintf("DOWN-%d", i), closed, "")
		}
		Expect(n.entries).To(HaveLen(200))
		r := newRegistry("")
		Expect(os.WriteFile(filepath.Join(r.path, "registry.yaml"), []byte(n.yaml("run: {at-once: 4}\n")), 0o600)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(r.path, "ris.json"), n.document(), 0o600)).To(Succeed())
		for id, secret := range n.secrets {
			r.env = append(r.env, "SECRET_"+id+"="+secret)
		}
		started := time.Now()
		cmd := exec.Command(binary, "registry", "run", r.path)
		cmd.Env = append(os.Environ(), r.env...)
		out, err := cmd.Output()
		Expect(err).NotTo(HaveOccurred(), string(out))
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		fmt.Fprintf(GinkgoWriter, "%s\n200 nodes in %s, processor %s (user) and %s (system) with children, largest process %d MB\n", out, time.Since(started).Round(time.Second),
			cmd.ProcessState.UserTime().Round(time.Second), cmd.ProcessState.SystemTime().Round(time.Second), usage.Maxrss>>10)
		Expect(usage.Maxrss>>10).To(BeNumerically("<=", 200), "MB: no process grows with the registry")
		results := map[registry.Result]int{}
		requests := map[string][]int{} // by kind of node
		h, err := registry.ReadHistory(registry.Dir(r.path).History())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(h.Close)
		for node, err := range h.Nodes() {
			Expect(err).NotTo(HaveOccurred())
			results[node.Outcome.Result]++
			want := map[string]registry.Result{"GOOD": registry.Passed, "WRONG": registry.Failed, "HANGS": registry.Untested, "DOWN": registry.Untested}
			kind, _, _ := strings.Cut(node.ID, "-")
			requests[kind] = append(requests[kind], node.Outcome.Requests)
			if w, fixed := want[kind]; fixed {
				Expect(node.Outcome.Result).To(Equal(w), "%s: %s", node.ID, node.Outcome.Why)
				Expect(node.Certified.IsZero()).To(Equal(w != registry.Passed), node.ID)
			}
		}
		for kind, sent := range requests {
			fmt.Fprintf(GinkgoWriter, "%s: %d to %d requests for each of %d nodes\n", kind, slices.Min(sent), slices.Max(sent), len(sent))
			Expect(slices.Max(sent)).To(BeNumerically("<=", 700), "as the letters announce")
		}
		Expect(results[registry.Passed] + results[registry.Failed] + results[registry.Untested]).To(Equal(200))
	})
})

// certifyInProcess certifies in this process, as the child process of rin registry run does.
func certifyInProcess(ctx context.Context, t target.Target, dir string) (nodereport.Report, *evidence.Log, error) {
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test"}, Evidence: filepath.Join(dir, certificate.EvidenceFile)})
	if err != nil {
		return nodereport.Report{}, nil, err
	}
	file, err := os.Create(filepath.Join(dir, certificate.ReportFile))
	if err != nil {
		return nodereport.Report{}, nil, err
	}
	defer file.Close()
	return result.Report, result.Log, nodereport.WriteJSON(file, result.Report)
}
