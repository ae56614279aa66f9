package main_test

import (
	byteorder "encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sys/unix"

	"github.com/rin-network/rin/conformance/registry"
)

// moments counts what can be seen of a command from outside: its requests, and its changes of files. It kills the command at one of them.
type moments struct {
	requests, changes   atomic.Int64
	atRequest, atChange int64 // 0 for never
	kill                func()
}

func (m *moments) request() {
	if m != nil && m.requests.Add(1) == m.atRequest {
		m.kill()
	}
}

func (m *moments) change() {
	if m.changes.Add(1) == m.atChange {
		m.kill()
	}
}

// watch reports every file below dir that is made, written, renamed or removed, until stop is called.
func (m *moments) watch(dir string) (stop func()) {
	GinkgoHelper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	Expect(err).NotTo(HaveOccurred())
	events := os.NewFile(uintptr(fd), "inotify")
	folders := map[int32]string{}
	var add func(path string)
	add = func(path string) {
		wd, err := unix.InotifyAddWatch(fd, path, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_DELETE)
		if err != nil {
			return // removed meanwhile
		}
		folders[int32(wd)] = path
		inside, _ := os.ReadDir(path)
		for _, d := range inside {
			if d.IsDir() {
				add(filepath.Join(path, d.Name()))
			}
		}
	}
	add(dir)
	var running sync.WaitGroup
	running.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := events.Read(buffer)
			if err != nil {
				return
			}
			for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
				wd, mask, length := int32(byteorder.NativeEndian.Uint32(rest)), byteorder.NativeEndian.Uint32(rest[4:]), byteorder.NativeEndian.Uint32(rest[12:])
				name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length]), "\x00")
				rest = rest[unix.SizeofInotifyEvent+length:]
				if mask&unix.IN_ISDIR != 0 && mask&unix.IN_CREATE != 0 {
					add(filepath.Join(folders[wd], name))
				}
				m.change()
			}
		}
	})
	return func() { _ = events.Close(); running.Wait() }
}

// killedRegistry is a registry whose commands are killed, and the nodes in it.
type killedRegistry struct {
	registryDir
	now *atomic.Pointer[moments] // of the command that runs
}

func (k killedRegistry) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		k.now.Load().request()
		next.ServeHTTP(w, req)
	})
}

// run runs a command of rin registry, and kills it at the moment that m names.
func (k killedRegistry) run(m *moments, args ...string) outcome {
	GinkgoHelper()
	cmd := exec.Command(binary, append([]string{"registry", args[0], k.path}, args[1:]...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR")}, k.env...)
	started := make(chan struct{})
	m.kill = func() { <-started; _ = cmd.Process.Kill() }
	k.now.Store(m)
	stop := m.watch(k.path)
	session, err := gexec.Start(cmd, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	close(started)
	Eventually(session, "120s").Should(gexec.Exit())
	stop()
	k.now.Store(nil)
	return outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}
}

// drawMoment draws a moment among those of a complete run: a request or a change of a file, with equal
// probability.
func drawMoment(random *rand.Rand, total *moments) *moments {
	requests, changes := total.requests.Load(), total.changes.Load()
	if requests > 0 && random.IntN(2) == 0 {
		return &moments{atRequest: 1 + random.Int64N(requests)}
	}
	return &moments{atChange: 1 + random.Int64N(changes)}
}

// newKilled makes a registry of two right nodes, one that deviates and one that is down.
func newKilled() killedRegistry {
	GinkgoHelper()
	k := killedRegistry{now: &atomic.Pointer[moments]{}}
	good, bad, down := newNode(k.observed), newNode(k.observed, "token-status-201"), newNode(nil)
	down.Close()
	k.registryDir = newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: 'env:SECRET_{id}'}\nrun: {at-once: 2}\n", good.clients[0].ClientID))
	k.write(entryOf("BAD", bad.URL), entryOf("DOWN", down.URL), entryOf("GOOD", good.URL), entryOf("WELL", good.URL))
	for id, secret := range map[string]string{"BAD": bad.clients[0].Secret, "DOWN": "canary-of-down", "GOOD": good.clients[0].Secret, "WELL": good.clients[0].Secret} {
		k.env = append(k.env, "SECRET_"+id+"="+secret)
	}
	return k
}

// copied returns the registry in a directory of its own.
func (k killedRegistry) copied() killedRegistry {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "reg")
	Expect(os.CopyFS(path, os.DirFS(k.path))).To(Succeed())
	Expect(os.Chmod(filepath.Join(path, "operator.key"), 0o600)).To(Succeed())
	k.path = path
	return k
}

// acknowledged finds the nodes whose results a command has printed.
func acknowledged(printed string) map[string]registry.Result {
	out := map[string]registry.Result{}
	for _, line := range regexp.MustCompile(`(?m)^\S (passed|failed) +([A-Z]+) +[0-9.]+ s `).FindAllStringSubmatch(printed, -1) {
		out[line[2]] = registry.Result(line[1])
	}
	return out
}

// expectComplete asserts that the night of the registry is counted once, and that everything in it is whole and authentic.
func (k killedRegistry) expectComplete() map[string]registry.Outcome {
	GinkgoHelper()
	h, err := registry.ReadHistory(registry.Dir(k.path).History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	nights, err := h.Nights()
	Expect(err).NotTo(HaveOccurred())
	Expect(nights).To(HaveLen(1))
	Expect(nights[0].Results).To(Equal(map[registry.Result]int{registry.Passed: 2, registry.Failed: 1, registry.Untested: 1}))
	counted := map[string]registry.Outcome{}
	for node, err := range h.Nodes() {
		Expect(err).NotTo(HaveOccurred())
		outcomes, err := h.Outcomes(node.ID, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(outcomes).To(HaveLen(1), node.ID)
		Expect(node.Bad).To(Equal(map[bool]int{true: 1}[node.ID == "BAD"]), node.ID)
		counted[node.ID] = outcomes[0]
	}
	Expect(counted).To(HaveLen(4))
	key := filepath.Join(k.path, "operator.pub")
	list := rin(nil, "verify", filepath.Join(k.path, "pages", "status.jwt"), "--key", key)
	Expect(list.code).To(Equal(0), list.out+list.err)
	Expect(list.out).To(ContainSubstring("2 valid certificates"))
	for _, id := range []string{"GOOD", "WELL"} {
		for _, path := range []string{filepath.Join(k.path, "nodes", id, string(counted[id].Night)), filepath.Join(k.path, "pages", "nodes", id), filepath.Join(k.path, "pages", "nodes", id, "mark.jwt")} {
			verified := rin(nil, "verify", path, "--key", key)
			Expect(verified.code).To(Equal(0), verified.out+verified.err)
		}
	}
	k.expectNoLeftovers()
	return counted
}

// expectNoLeftovers asserts that no file is left that a killed command had begun.
func (k killedRegistry) expectNoLeftovers() {
	GinkgoHelper()
	for name := range k.texts() {
		Expect(filepath.Base(name)).NotTo(HavePrefix("."), name)
	}
}

// kills returns how many registries each of these specs kills:
// RIN_KILLS=100 go test ./cmd/rin -ginkgo.focus "killed at drawn moments"
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("RIN_KILLS")); err == nil {
		return n
	}
	return 3
}

var _ = Describe("A registry whose commands are killed at drawn moments", func() {
	var random *rand.Rand
	BeforeEach(func() { random = rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0)) })

	It("loses no result that rin registry run has printed, and counts the night once", func() {
		template := newKilled()
		total, reference := &moments{}, template.copied()
		got := reference.run(total, "run")
		Expect(got.code).To(Equal(0), got.out+got.err)
		reference.expectComplete()
		interrupted := 0
		for range kills() {
			k := template.copied()
			printed := map[string]time.Time{} // nodes whose result is known, and until when it was printed
			for range 2 {
				m := drawMoment(random, total)
				got := k.run(m, "run")
				killedAt := fmt.Sprintf("killed at request %d or change %d: %s%s", m.atRequest, m.atChange, got.out, got.err)
				if got.code == -1 || got.code > 128 {
					interrupted++
				} else {
					Expect(got.code).To(Equal(0), killedAt)
				}
				for id, result := range acknowledged(got.err) {
					Expect(printed).NotTo(HaveKey(id), "tested twice; "+killedAt)
					Expect(result).To(Equal(map[bool]registry.Result{true: registry.Failed, false: registry.Passed}[id == "BAD"]), killedAt)
					printed[id] = time.Now()
				}
			}
			got := k.run(&moments{}, "run")
			Expect(got.code).To(Equal(0), got.out+got.err)
			for id := range acknowledged(got.err) {
				Expect(printed).NotTo(HaveKey(id), "tested twice")
			}
			for id, o := range k.expectComplete() {
				if printedAt, known := printed[id]; known {
					Expect(o.Started).To(BeTemporally("<", printedAt), id)
				}
			}
		}
		Expect(interrupted).To(BeNumerically(">=", kills()), "of twice as many")
		fmt.Fprintf(GinkgoWriter, "%d requests and %d changes of files; %d commands were killed\n", total.requests.Load(), total.changes.Load(), interrupted)
	})

	It("merges the parts of a night once, whenever rin registry merge or a shard is killed", func() {
		template := newKilled()
		totals := []*moments{{}, {}, {}}
		commands := [][]string{{"run", "--shard", "1/2"}, {"run", "--shard", "2/2"}, {"merge"}}
		reference := template.copied()
		for i, command := range commands {
			got := reference.run(totals[i], command...)
			Expect(got.code).To(Equal(0), got.out+got.err)
		}
		reference.expectComplete()
		interrupted := 0
		for range kills() {
			k := template.copied()
			printed := map[string]string{}
			for i, command := range commands {
				for attempt := 0; ; attempt++ {
					m := &moments{}
					if attempt < 2 {
						m = drawMoment(random, totals[i])
					}
					got := k.run(m, command...)
					killedAt := fmt.Sprintf("%v killed at request %d or change %d: %s%s", command, m.atRequest, m.atChange, got.out, got.err)
					for id := range acknowledged(got.err) {
						Expect(printed).NotTo(HaveKey(id), "tested twice; "+killedAt)
						printed[id] = killedAt
					}
					if got.code == -1 || got.code > 128 {
						interrupted++
						// A merge that comes too early loses nothing.
						if command[0] == "run" && random.IntN(2) == 0 {
							early := k.run(&moments{}, "merge")
							Expect(early.code).To(Or(Equal(0), Equal(3)), early.out+early.err+killedAt)
							if early.code == 3 {
								Expect(early.out+early.err).To(Or(ContainSubstring("not run by any part: "), ContainSubstring("no node at all could be tested")), killedAt)
							}
						}
						continue
					}
					Expect(got.code).To(Equal(0), killedAt)
					break
				}
			}
			Expect(printed).To(HaveLen(3))
			k.expectComplete()
			repeated := k.run(&moments{}, "merge")
			Expect(repeated.code).To(Equal(0), repeated.out+repeated.err)
			k.expectComplete()
		}
		Expect(interrupted).To(BeNumerically(">=", kills()))
		fmt.Fprintf(GinkgoWriter, "%d commands were killed\n", interrupted)
	})

	It("continues an admission whenever rin registry admit is killed, with the same proof of control and the same run", func() {
		var answer atomic.Value
		k := killedRegistry{now: &atomic.Pointer[moments]{}}
		node := newNode(func(next http.Handler) http.Handler {
			return k.observed(answerChallenge(&answer)(next))
		})
		k.registryDir = newRegistry(fmt.Sprintf("certificate: {control: required}\ndefaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", node.clients[0].ClientID))
		k.write(entryOf("OLD", "https://old.example"))
		k.env = []string{"SECRET=" + node.clients[0].Secret}
		text, err := json.Marshal(entryOf("XA", node.URL))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(k.path, "xa.json"), text, 0o600)).To(Succeed())
		template := k
		// admit takes the next step of an admission, and collects what it acknowledged: the drawn text, and the days of the steps that are done.
		steps := []*regexp.Regexp{regexp.MustCompile(`alone:\n +([0-9a-f]{32})`), regexp.MustCompile(`control: +proved on (.*)`), regexp.MustCompile(`certification: (.*)`), regexp.MustCompile(`delayed check: (.*)`)}
		admit := func(k killedRegistry, m *moments, known map[int]string) outcome {
			GinkgoHelper()
			got := k.run(m, "admit", filepath.Join(k.path, "xa.json"), "--control", "well-known")
			for i, step := range steps {
				if match := step.FindStringSubmatch(got.out); match != nil {
					if before, repeated := known[i]; repeated {
						Expect(match[1]).To(Equal(before), got.out)
					}
					known[i] = match[1]
				}
			}
			if text := known[0]; text != "" {
				answer.Store(text)
			}
			return got
		}
		expectAdmitted := func(k killedRegistry) {
			GinkgoHelper()
			h, err := registry.ReadHistory(registry.Dir(k.path).History())
			Expect(err).NotTo(HaveOccurred())
			defer h.Close()
			n, known, err := h.Node("XA")
			Expect(err).NotTo(HaveOccurred())
			Expect(known).To(BeTrue())
			Expect(n.Status).To(Equal(registry.Valid), n.Reason)
			Expect(n.Control.IsZero()).To(BeFalse())
			Expect(h.Nights()).To(BeEmpty(), "an admission is not a night")
			Expect(filepath.Join(k.path, "admissions", "XA.patch.json")).To(BeARegularFile())
			for _, path := range []string{filepath.Join(k.path, "nodes", "XA", string(n.CertifiedRun)), filepath.Join(k.path, "pages", "nodes", "XA"), filepath.Join(k.path, "pages", "status.jwt")} {
				verified := rin(nil, "verify", path, "--key", filepath.Join(k.path, "operator.pub"))
				Expect(verified.code).To(Equal(0), verified.out+verified.err)
			}
			k.expectNoLeftovers()
		}

		answer.Store("")
		reference, first, second := template.copied(), &moments{}, &moments{}
		known := map[int]string{}
		Expect(admit(reference, first, known).code).To(Equal(3))
		Expect(admit(reference, second, known).code).To(Equal(0))
		expectAdmitted(reference)
		interrupted := 0
		for range kills() {
			k, known := template.copied(), map[int]string{}
			answer.Store("")
			for attempt := 0; ; attempt++ {
				m := &moments{}
				switch {
				case attempt < 1:
					m = drawMoment(random, first)
				case attempt < 4:
					m = drawMoment(random, second)
				}
				got := admit(k, m, known)
				killedAt := fmt.Sprintf("killed at request %d or change %d: %s%s", m.atRequest, m.atChange, got.out, got.err)
				Expect(attempt).To(BeNumerically("<", 8), killedAt)
				switch got.code {
				case 0:
				case 3:
					Expect(got.out).To(ContainSubstring("To the operator of the node XA"), killedAt)
					continue
				default:
					Expect(got.code).To(Or(Equal(-1), BeNumerically(">", 128)), killedAt)
					interrupted++
					continue
				}
				break
			}
			expectAdmitted(k)
		}
		Expect(interrupted).To(BeNumerically(">=", kills()))
		fmt.Fprintf(GinkgoWriter, "%d requests and %d changes of files; %d commands were killed\n", second.requests.Load(), second.changes.Load(), interrupted)
	})
})
