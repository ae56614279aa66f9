//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// minSpeedup is how many times as fast as Prism the sandbox must answer from the same document.
const minSpeedup = 20

var _ = Describe("An API from its document, beside Prism's --dynamic", Ordered, func() {
	var document, described, prism string
	var ids []string

	BeforeAll(func() {
		folder := publishedDocuments()
		if servers == "" || folder == "" {
			Skip("npm or the published documents are missing")
		}
		document = filepath.Join(folder, "funding.json")
		sandbox := func(flags ...string) string {
			GinkgoHelper()
			return serve("", nil, append([]string{binary, "sandbox", "--addr", "127.0.0.1:0", "--spec", document, "--items", "2000"}, flags...)...) +
				"/ris-synergy/try-out/funding/v1/fundings"
		}
		described = sandbox()
		// A second sandbox serves the same data as an array, from which the test takes the ids.
		_, body := ask(http.DefaultClient, sandbox("--lists", "array"))
		var items []struct{ ID string }
		Expect(json.Unmarshal(body, &items)).To(Succeed())
		Expect(items).To(HaveLen(2000))
		for _, item := range items {
			ids = append(ids, item.ID)
		}
		prism = serve(servers, []string{"NO_COLOR=1"}, "node", "node_modules/.bin/prism", "mock", "--dynamic", "-h", "127.0.0.1", "-p", freePort(), document) + "/v1/fundings"
	})

	It("obeys its document where Prism breaks it", func() {
		ours, theirs := 0, 0
		for _, id := range append([]string{""}, ids[:200]...) {
			ours += countObjections(document, described, id)
			theirs += countObjections(document, prism, id)
		}
		fmt.Fprintf(GinkgoWriter, "of 201 answers each: %d of the sandbox and %d of Prism do not fit funding.json\n", ours, theirs)
		Expect(ours).To(BeZero())
		Expect(theirs).NotTo(BeZero(), "Prism no longer breaks the document: correct the texts that say so")
	})

	It("answers "+strconv.Itoa(minSpeedup)+" times as fast", slow, func() {
		slow, fast := 0.0, 0.0
		const rounds = 4 // in turn, so that other programs of the machine slow down both
		for range rounds {
			slow += rate(prism, ids) / rounds
			fast += rate(described, ids) / rounds
		}
		fmt.Fprintf(GinkgoWriter, "sandbox %.0f answers/s, Prism %.0f: %.0f times as many\n", fast, slow, fast/slow)
		Expect(fast / slow).To(BeNumerically(">=", minSpeedup))
	})
})

// ask fetches a URL and reads the body to its end.
func ask(client *http.Client, address string) (*http.Response, []byte) {
	GinkgoHelper()
	answer, err := client.Get(address)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer, body
}

// rate returns how many answers a second a server gives to eight callers who ask for the list and for each detail in turn.
func rate(list string, ids []string) float64 {
	GinkgoHelper()
	const callers, span = 8, 2 * time.Second
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var answers, wrong atomic.Int64
	var group sync.WaitGroup
	started := time.Now()
	for caller := range callers {
		group.Go(func() {
			for i := caller; time.Since(started) < span; i += callers {
				address := list
				if i%2 == 1 {
					address += "/" + url.PathEscape(ids[i%len(ids)])
				}
				answer, err := client.Get(address)
				if err != nil {
					wrong.Add(1)
					continue
				}
				_, err = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusOK {
					wrong.Add(1)
				}
				answers.Add(1)
			}
		})
	}
	group.Wait()
	Expect(wrong.Load()).To(BeZero())
	return float64(answers.Load()) / time.Since(started).Seconds()
}
