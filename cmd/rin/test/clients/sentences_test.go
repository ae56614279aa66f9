//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// bench is a running sandbox, and calls it as its only client does.
type bench struct {
	Nodes []struct {
		TokenURL, FundingsURL, SpecURL string
		Clients                        []struct{ ClientID, ClientSecret string }
	}
	Control  struct{ URL, Token string }
	Registry string
}

// newBench starts rin sandbox and waits until it serves.
func newBench(flags ...string) (b bench) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
	sandbox := exec.Command(binary, append([]string{"sandbox", "--addr", "127.0.0.1:0", "--credentials", file}, flags...)...)
	Expect(sandbox.Start()).To(Succeed())
	DeferCleanup(func() {
		_ = sandbox.Process.Signal(syscall.SIGTERM)
		_ = sandbox.Wait() // an error says that it was signalled
	})
	Eventually(func() error {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		return err
	}, "30s", "20ms").Should(Succeed())
	return b
}

// rin runs a command on the sandbox and returns its exit code and output.
func (b bench) rin(args ...string) (int, string) {
	cmd := exec.Command(binary, append(args, "--control", b.Control.URL)...)
	cmd.Env = append(os.Environ(), "RIN_CONTROL_TOKEN="+b.Control.Token)
	out, _ := cmd.CombinedOutput() // the exit code says the rest
	return cmd.ProcessState.ExitCode(), string(out)
}

func (b bench) play(args ...string) {
	GinkgoHelper()
	code, out := b.rin(append([]string{"sandbox", "play"}, args...)...)
	Expect(code).To(BeZero(), out)
}

func (b bench) token() string {
	c := b.Nodes[0].Clients[0]
	answer, err := http.PostForm(b.Nodes[0].TokenURL, url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ClientID}, "client_secret": {c.ClientSecret}})
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&granted); err != nil {
		panic(err)
	}
	return granted.AccessToken
}

// get requests the URL of the list with rest appended, and returns the status; 0 for an answer that was cut off.
func (b bench) get(rest, token string) (status int, header http.Header, body []byte) {
	return b.send(http.MethodGet, rest, token)
}

// send is [bench.get] with another method, and with header fields, given as names and values in turn.
func (b bench) send(method, rest, token string, fields ...string) (status int, header http.Header, body []byte) {
	r, err := http.NewRequest(method, b.Nodes[0].FundingsURL+rest, nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, nil
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		return 0, nil, nil
	}
	return answer.StatusCode, answer.Header, body
}

// pages reads pages at some offsets, one after the other.
func (b bench) pages(size int, offsets ...int) {
	token := b.token()
	for _, offset := range offsets {
		b.get(page(offset, size), token)
	}
}

func page(offset, size int) string {
	return fmt.Sprintf("?page%%5Bpage%%5D=%d&page%%5Bsize%%5D=%d", offset, size)
}

const record = "/XF-00000001"

// report is what the sandbox says of its only client.
type report struct {
	Failed, Refused int
	Findings        []struct{ Rule, Level string }
}

func (b bench) report() (r report) {
	GinkgoHelper()
	answer, err := http.Get(b.Control.URL + "/conduct")
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var all struct{ Clients []report }
	Expect(json.NewDecoder(answer.Body).Decode(&all)).To(Succeed())
	Expect(all.Clients).To(HaveLen(1))
	return all.Clients[0]
}

// brokenRules lists the broken rules with their levels; notes only if notes is true.
func (b bench) brokenRules(notes bool) []string {
	GinkgoHelper()
	list := []string{}
	for _, f := range b.report().Findings {
		if notes || f.Level != "note" {
			list = append(list, f.Level+" "+f.Rule)
		}
	}
	return list
}

// together calls work n times at once.
func together(n int, work func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { work(i) })
	}
	group.Wait()
}

var _ = Describe("The verdict of rin sandbox report", func() {
	DescribeTable("does not blame calls in flight", func(work func(b bench, n int)) {
		for _, n := range []int{2, 10, 50} {
			b := newBench()
			work(b, n)
			Expect(b.brokenRules(false)).To(BeEmpty(), "%d in flight", n)
		}
	},
		Entry("when a token expires", func(b bench, n int) {
			token := b.token()
			b.get(record, token)
			code, out := b.rin("sandbox", "clock", "+1h")
			Expect(code).To(BeZero(), out)
			var mu sync.Mutex
			together(n, func(i int) {
				mu.Lock()
				used := token
				mu.Unlock()
				path := fmt.Sprintf("/XF-%08d", i+1)
				if status, _, _ := b.get(path, used); status != http.StatusUnauthorized {
					return
				}
				mu.Lock()
				if token == used {
					token = b.token()
				}
				used = token
				mu.Unlock()
				b.get(path, used)
			})
		}),
		Entry("under 429, all for the same record", func(b bench, n int) {
			token := b.token()
			b.play("429-then-ok", "--times", strconv.Itoa(n))
			together(n, func(int) {
				for {
					status, header, _ := b.get(record, token)
					if status != http.StatusTooManyRequests {
						return
					}
					seconds, _ := strconv.Atoi(header.Get("Retry-After"))
					<-time.After(time.Duration(seconds)*time.Second + 100*time.Millisecond) // as Retry-After says
				}
			})
		}),
		Entry("for the pages of a list", func(b bench, n int) {
			token, size := b.token(), (240+n-1)/n
			together(n, func(i int) { b.get(page(i*size, size), token) })
		}),
	)

	DescribeTable("knows a request by its meaning", func(again ...string) {
		b := newBench()
		token := b.token()
		b.play("500-once", "--after", "1")
		b.get("?page[page]=0&page[size]=100&runningCalls=true", token)
		b.get("?page[page]=100&page[size]=100&runningCalls=true", token)
		for _, query := range again {
			b.get(query, token)
		}
		Expect(b.brokenRules(false)).NotTo(ContainElement("fault CLT-23"))
	},
		Entry("in another order and encoding", "?runningCalls=true&page%5Bsize%5D=100&page%5Bpage%5D=100"),
		Entry("in smaller pages", "?page[page]=100&page[size]=50&runningCalls=true", "?page[page]=150&page[size]=50&runningCalls=true"),
	)

	DescribeTable("does not blame a client that wants only the beginning of a list, as it has shown", func(scenario string) {
		b := newBench()
		b.pages(10, 0)
		b.play(scenario)
		b.pages(10, 0)
		Expect(b.brokenRules(false)).To(BeEmpty())
	},
		Entry("for an empty page", "empty-page"),
		Entry("for a short page", "short-page"),
	)

	DescribeTable("names", func(want string, misbehave func(b bench)) {
		b := newBench()
		misbehave(b)
		Expect(b.brokenRules(true)).To(ContainElement(want))
	},
		Entry("immediate repeats after 500, which is a failure", "fault CLT-18", func(b bench) {
			token := b.token()
			b.play("500-once", "--times", "3")
			for range 4 {
				b.get(record, token)
			}
			Expect(b.report()).To(And(HaveField("Failed", 3), HaveField("Refused", 0)))
		}),
		Entry("immediate repeats after a cut connection", "fault CLT-18", func(b bench) {
			token := b.token()
			b.play("connection-cut", "--times", "3")
			for range 4 {
				b.get(record, token)
			}
		}),
		Entry("an offset that is taken for a page number", "fault CLT-30", func(b bench) { b.pages(50, 0, 1, 2, 3, 4) }),
		Entry("more than two new tokens that are refused", "fault CLT-31", func(b bench) {
			b.play("wrong-aud", "--times", "3")
			for range 3 {
				b.get(record, b.token())
			}
		}),
		Entry("another request during Retry-After", "fault CLT-17", func(b bench) {
			token := b.token()
			b.play("429-then-ok", "--times", "1", "--wait", "30s")
			b.get(record, token)
			b.get("/XF-00000002", token)
		}),
		Entry("a large list that is read three times", "waste CLT-32", func(b bench) {
			token := b.token()
			for range 3 {
				b.get("", token)
			}
		}),
		Entry("a call for every record of a list", "note CLT-36", func(b bench) {
			token := b.token()
			_, _, body := b.get("", token)
			var all []struct{ ID string }
			Expect(json.Unmarshal(body, &all)).To(Succeed())
			for _, one := range all {
				b.get("/"+one.ID, token)
			}
		}),
		Entry("a client that gives up at its first 503", "fault CLT-33", func(b bench) {
			token := b.token()
			b.play("503-twice")
			b.get("", token)
		}),
		Entry("a list that is left before its end", "fault CLT-26", func(b bench) { b.pages(100, 0, 100) }),
		Entry("an empty page that is taken for the end", "fault CLT-26", func(b bench) {
			b.play("empty-page")
			b.pages(100, 0)
		}),
		Entry("a short page that is taken for the end", "fault CLT-26", func(b bench) {
			b.play("short-page")
			b.pages(100, 0)
		}),
		Entry("a truncated page that is skipped", "fault CLT-23", func(b bench) {
			b.play("truncated-json", "--after", "1")
			b.pages(100, 0, 100, 200)
		}),
		Entry("a token that goes to the registry", "fault CLT-04", func(b bench) {
			r, err := http.NewRequest(http.MethodGet, b.Registry, nil)
			Expect(err).NotTo(HaveOccurred())
			r.Header.Set("Authorization", "Bearer "+b.token())
			answer, err := http.DefaultClient.Do(r)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
		}),
		Entry("a list that is begun again when a page fails", "note CLT-42", func(b bench) {
			token := b.token()
			b.play("500-once", "--after", "2")
			for _, offset := range []int{0, 100, 200, 0, 100, 200} {
				b.get(page(offset, 100), token)
			}
		}),
		Entry("a loop without a pause", "waste CLT-41", func(b bench) {
			token := b.token()
			for range 200 {
				b.get(record, token)
			}
		}),
		Entry("a token for each of eight workers, of which each makes several calls", "note CLT-38", func(b bench) {
			tokens := make([]string, 8)
			together(8, func(i int) { tokens[i] = b.token() })
			together(8, func(i int) {
				for call := range 3 {
					b.get(fmt.Sprintf("/XF-%08d", 1+3*i+call), tokens[i])
				}
			})
		}),
		Entry("a needless request", "waste CLT-24", func(b bench) { b.pages(100, 0, 100, 200, 300) }),
		Entry("a query that is encoded twice", "fault CLT-43", func(b bench) { b.get("?page%255Bpage%255D=100&page%255Bsize%255D=100", b.token()) }),
		Entry("the 304 of the first page taken for the whole list", "note CLT-44", func(b bench) {
			token := b.token()
			_, header, _ := b.get(page(0, 100), token)
			b.get(page(100, 100), token)
			b.get(page(200, 100), token)
			b.send(http.MethodGet, page(0, 100), token, "If-None-Match", header.Get("ETag"))
		}),
		Entry("HEAD before each GET", "waste CLT-45", func(b bench) {
			token := b.token()
			for _, offset := range []int{0, 100, 200} {
				b.send(http.MethodHead, page(offset, 100), token)
				b.get(page(offset, 100), token)
			}
		}),
		Entry("an If-Modified-Since in another form than HTTP's", "waste CLT-46", func(b bench) {
			b.send(http.MethodGet, "", b.token(), "If-Modified-Since", "2026-03-01T12:00:00Z")
		}),
		Entry("pages that are requested on a guess", "note CLT-47", func(b bench) {
			token := b.token()
			b.get(page(0, 100), token)
			for round := range 5 {
				together(2, func(i int) { b.get(page(200*round+100*i, 100)+"&fundingType=PROGRAMME", token) })
			}
		}),
	)

	It("ends with 1 at the level that --fail-on names", func() {
		b := newBench()
		b.pages(100, 0, 100, 200, 300)
		for level, want := range map[string]int{"fault": 0, "waste": 1, "note": 1} {
			code, out := b.rin("sandbox", "report", "--fail-on", level)
			Expect(code).To(Equal(want), "%s: %s", level, out)
		}
	})

	It("goes with a document that describes 429 where the rate is limited", func() {
		for _, limit := range []string{"", "--rate-limit=50"} {
			b := newBench(strings.Fields(limit)...)
			answer, err := http.Get(b.Nodes[0].SpecURL)
			Expect(err).NotTo(HaveOccurred())
			defer answer.Body.Close()
			var document struct {
				Paths map[string]map[string]struct{ Responses map[string]any }
			}
			Expect(json.NewDecoder(answer.Body).Decode(&document)).To(Succeed())
			for path, operations := range document.Paths {
				_, has := operations["get"].Responses["429"]
				Expect(has).To(Equal(limit != ""), path)
			}
		}
	})
})
