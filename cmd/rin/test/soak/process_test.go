package soak_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

// process is a running sandbox of the built binary.
type process struct {
	base, control, secret string
	session               *gexec.Session
	client                *http.Client
}

func start(binary string) process {
	GinkgoHelper()
	cmd := exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0", "--calls", "1000", "--cors", "http://localhost:5173",
		"--deviate", "token-type-in-lower-case")
	session, err := gexec.Start(cmd, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`page\[size\]=2'\n`))
	found := func(pattern string) string {
		GinkgoHelper()
		match := regexp.MustCompile(pattern).FindSubmatch(session.Out.Contents())
		Expect(match).To(HaveLen(2), pattern)
		return string(match[1])
	}
	return process{
		base: found(`listening on (\S+)`), control: found(`control +(\S+)`), secret: found(`client +demo-client \(.*\n +secret +(\S+)`), session: session,
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}},
	}
}

// footprint is the memory and the goroutines of the process.
type footprint struct{ resident, heap, goroutines float64 }

func (f footprint) String() string {
	return fmt.Sprintf("%.1f MB resident, %.1f MB on the heap, %.0f goroutines", f.resident/(1<<20), f.heap/(1<<20), f.goroutines)
}

// memory returns the median of some samples, because the garbage collector makes single samples vary. Call it while no load
// runs.
func (s process) memory() footprint {
	GinkgoHelper()
	var resident, heap, goroutines []float64
	for range 5 {
		figures := s.figures()
		figure := func(name string) float64 {
			GinkgoHelper()
			match := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(figures)
			Expect(match).To(HaveLen(2), name)
			value, err := strconv.ParseFloat(match[1], 64)
			Expect(err).NotTo(HaveOccurred())
			return value
		}
		resident, heap, goroutines = append(resident, residentOf(s.session.Command.Process.Pid)), append(heap, figure("go_memstats_heap_alloc_bytes")), append(goroutines, figure("go_goroutines"))
	}
	return footprint{median(resident), median(heap), median(goroutines)}
}

func (s process) figures() string {
	GinkgoHelper()
	answer, err := s.client.Get(s.control + "/metrics")
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return string(body)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// residentOf returns the resident size of a process in bytes. It skips the test on a system that does not report it.
func residentOf(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		Skip("this system does not report the resident size of a process")
	}
	match := regexp.MustCompile(`(?m)^VmRSS:\s*(\d+) kB$`).FindSubmatch(status)
	Expect(match).To(HaveLen(2))
	kilobytes, err := strconv.ParseFloat(string(match[1]), 64)
	Expect(err).NotTo(HaveOccurred())
	return kilobytes * 1024
}
