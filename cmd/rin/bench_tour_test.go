//go:build linux

package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkFirstFrame measures from the start of the process until the first frame of rin tour is on the terminal, both on a terminal
// that answers the query for its background colour and on one that does not.
func BenchmarkFirstFrame(b *testing.B) {
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	for _, row := range []struct {
		name    string
		answers bool
		limit   float64 // milliseconds
	}{
		{"answering", true, 100},
		{"silent", false, 300},
	} {
		b.Run(row.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				took = append(took, measureFirstFrame(b, rin, row.answers))
			}
			slices.Sort(took)
			reportAtMost(b, float64(took[len(took)/2].Microseconds())/1000, "ms-median", row.limit)
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-most")
		})
	}
}

// measureFirstFrame starts a tour, waits for its first frame and leaves it.
func measureFirstFrame(b *testing.B, rin string, answers bool) time.Duration {
	b.Helper()
	command := exec.Command(rin, "tour")
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir(), "TERM=xterm-256color"}
	s, err := startOnTerminal(answers, "", command)
	if err != nil {
		b.Fatal(err)
	}
	defer s.leave()
	select {
	case <-s.framed:
	case <-time.After(10 * time.Second):
		b.Fatalf("no frame within 10 s:\n%q", s.all())
	}
	s.types("\x03")
	<-s.exited
	return s.firstFrame()
}

// BenchmarkTourMemory measures the resident memory of rin tour with a response of five megabytes open, unfolded and searched (target: 60 MB),
// and the most that it took on the way there.
func BenchmarkTourMemory(b *testing.B) {
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	item := `{"id":"call","title":{"de":"Förderung","en":"Funding call"},"text":"` + strings.Repeat("what a call says of itself ", 8) + `"},`
	body := `{"member":[{"id":"XA","acronym":"X","name":"X","contact":"x@x.example","oauth2":"http://127.0.0.1:1/t","info":"http://127.0.0.1:1/i"}],"more":[` +
		strings.Repeat(item, 5<<20/len(item)) + `{}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	b.Cleanup(server.Close)
	for b.Loop() {
		command := exec.Command(rin, "tour", "--registry", server.URL+"/registry.json", "--node", "XA")
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir(), "TERM=xterm-256color"}
		s, err := startOnTerminal(true, "", command)
		if err != nil {
			b.Fatal(err)
		}
		s.resize(120, 40) // wide enough for the list of nodes beside its exchange
		for _, do := range []struct{ keys, shows string }{
			{"", frame}, {"\r", "lists 1 ent"}, {"\t\t\t", "members"}, {"Z", "Funding call"}, {"/funding\r", "1 of "}, {"w", "…"},
		} {
			s.types(do.keys)
			for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.all(), do.shows); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					b.Fatalf("no %q after %q:\n%q", do.shows, do.keys, s.all())
				}
			}
		}
		resident, err := memoryOf(command.Process.Pid, "VmRSS:")
		if err != nil {
			b.Skip(err)
		}
		peak, _ := peakMemory(command.Process.Pid)
		s.leave()
		<-s.exited
		reportAtMost(b, resident, "MB", 60)
		b.ReportMetric(peak, "MB-most")
	}
}
