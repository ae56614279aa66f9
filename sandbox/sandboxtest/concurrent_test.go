package sandboxtest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/sandboxtest"
)

// pool is a correct client with several workers, which share one token and one pause.
type pool struct {
	box    *sandboxtest.Sandbox
	client *http.Client
	mu     sync.Mutex
	token  string
	resume time.Time // no request begins earlier
}

func newPool(box *sandboxtest.Sandbox, workers int) *pool {
	transport := &http.Transport{MaxIdleConnsPerHost: workers}
	DeferCleanup(transport.CloseIdleConnections)
	p := &pool{box: box, client: &http.Client{Transport: transport}}
	p.token = p.renew("")
	// All first requests are answered late, so that they are in flight together.
	box.Play("slow:wait=60ms:path=list:times=" + fmt.Sprint(workers))
	box.Play("slow:wait=60ms:path=info:times=" + fmt.Sprint(workers))
	box.Play("slow:wait=60ms:path=token:times=" + fmt.Sprint(workers))
	return p
}

// renew fetches a token, unless another worker has replaced the refused one.
func (p *pool) renew(refused string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == refused {
		p.token = p.box.Token(p.box.Credential())
	}
	return p.token
}

// get reads a resource, and repeats it after refusals and failures.
func (p *pool) get(url string) int {
	for attempt := range 12 {
		p.mu.Lock()
		token, resume := p.token, p.resume
		p.mu.Unlock()
		if pause := time.Until(resume); pause > 0 {
			time.Sleep(pause)
			continue
		}
		request, err := http.NewRequest(http.MethodGet, url, nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		answer, err := p.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		switch {
		case err == nil && answer.StatusCode == http.StatusOK:
			return answer.StatusCode
		case answer.StatusCode == http.StatusUnauthorized:
			p.renew(token)
		case answer.StatusCode == http.StatusTooManyRequests:
			seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			Expect(err).NotTo(HaveOccurred())
			p.mu.Lock()
			p.resume = time.Now().Add(time.Duration(seconds)*time.Second + 20*time.Millisecond)
			p.mu.Unlock()
		default:
			time.Sleep(150 * time.Millisecond << attempt)
		}
	}
	return 0
}

// together runs all calls at once.
func together(workers int, call func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range workers {
		group.Go(func() {
			defer GinkgoRecover()
			<-start
			call(i)
		})
	}
	close(start)
	group.Wait()
}

var _ = DescribeTable("A correct client with many requests in flight has no findings when", func(run func(p *pool, workers int)) {
	for _, workers := range []int{2, 5, 20, 50} {
		box := sandboxtest.New(GinkgoT())
		run(newPool(box, workers), workers)
		for _, client := range box.Report().Clients {
			for _, finding := range client.Findings {
				Expect(string(finding.Level)).To(Equal("note"), "%d workers: %s %v", workers, finding.Rule, finding.Seen)
			}
		}
	}
},
	Entry("its token expires", func(p *pool, workers int) {
		together(workers, func(int) { Expect(p.get(p.box.Addresses.Info)).To(Equal(200)) })
		p.box.Advance(time.Hour)
		together(workers, func(int) {
			for range 4 {
				Expect(p.get(p.box.Addresses.Info)).To(Equal(200))
			}
		})
	}),
	Entry("each worker fetches its own token", func(p *pool, workers int) {
		together(workers, func(int) {
			own := &pool{box: p.box, client: p.client, token: p.box.Token(p.box.Credential())}
			Expect(own.get(p.box.Addresses.Info)).To(Equal(200))
		})
	}),
	Entry("identical calls are answered 429", func(p *pool, workers int) {
		p.box.Play("429-then-ok:path=list:times=" + fmt.Sprint(workers))
		together(workers, func(int) { Expect(p.get(p.box.Addresses.Fundings + "?page[size]=10")).To(Equal(200)) })
	}),
	Entry("identical calls fail", func(p *pool, workers int) {
		p.box.Play("500-once:path=list:times=" + fmt.Sprint(workers))
		together(workers, func(int) { Expect(p.get(p.box.Addresses.Fundings + "?page[size]=10")).To(Equal(200)) })
	}),
	Entry("it reads the pages of a list in any order, some past the end, and some fail", func(p *pool, workers int) {
		p.box.Play("500-once:path=list:times=2")
		together(workers, func(i int) {
			for page := max(workers, 14) - 1 - i; page >= 0; page -= workers { // the list has fewer than 14 pages
				query := url.Values{"page[page]": {fmt.Sprint(page * 20)}, "page[size]": {"20"}}
				Expect(p.get(p.box.Addresses.Fundings + "?" + query.Encode())).To(Equal(200))
			}
		})
	}),
	Entry("its secret is wrong", func(p *pool, workers int) {
		together(workers, func(int) {
			form := url.Values{"grant_type": {"client_credentials"}, "client_id": {p.box.Credential().ClientID}, "client_secret": {"wrong"}}
			answer, err := p.client.PostForm(p.box.Addresses.ListedToken, form)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
		})
	}),
	Entry("it has no permission", func(p *pool, workers int) {
		other := &pool{box: p.box, client: p.client, token: p.box.Token(p.box.Server.Credentials()[1])}
		together(workers, func(int) {
			request, err := http.NewRequest(http.MethodGet, p.box.Addresses.Fundings, nil)
			Expect(err).NotTo(HaveOccurred())
			request.Header.Set("Authorization", "Bearer "+other.token)
			answer, err := p.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.StatusCode).To(Equal(http.StatusForbidden))
		})
	}),
)
