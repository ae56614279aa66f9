package main

import (
	"bytes"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// lockedBuffer is a buffer that is read while others write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

var _ = Describe("Progress", func() {
	It("counts down on a terminal while the run waits, and keeps the bar", func() {
		var out lockedBuffer
		p := newProgress(&out, display{width: 80, live: true})
		p.step(3, 4, "info.ok")
		p.wait(3*time.Second, "a token to expire")
		const bar = "\r\x1b[K[###############.....] 3/4 "
		Expect(out.text()).To(HaveSuffix(bar + "waiting 3 seconds for a token to expire"))
		Eventually(out.text).WithTimeout(testTimeout).Should(HaveSuffix(bar + "waiting 1 second for a token to expire"))
		Eventually(out.text).WithTimeout(testTimeout).Should(HaveSuffix(bar+"info.ok"), "the wait is over")
		p.clear()
		Expect(out.text()).To(HaveSuffix("\r\x1b[K"))
		Consistently(out.text).WithTimeout(1500 * time.Millisecond).Should(HaveSuffix("\r\x1b[K"))
	})

	It("says elsewhere once how long it waits", func() {
		var out lockedBuffer
		p := newProgress(&out, display{width: 80})
		p.wait(90*time.Second, "a token to expire")
		p.clear()
		Expect(out.text()).To(Equal("waiting 1 minute 30 seconds for a token to expire\n"))
	})
})
