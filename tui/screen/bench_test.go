package screen_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

// large returns a JSON list of calls, five megabytes long.
func large() []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < 5<<20; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id":"call-%d","title":{"de":"Förderung Nummer %d","en":"Funding call number %d"},"regions":["TYROL","VIENNA"],"amount":%d.50,"open":true,"contact":null,"token":"[[access_token:1f2e3d4c:plain]]","text":"%s"}`,
			i, i, i, i*1000, strings.Repeat("what a call says of itself ", 12))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// worst returns bodies of five megabytes that take the most time to draw.
func worst() map[string][]byte {
	return map[string][]byte{
		"list":       large(),
		"one":        []byte(`{"text":"` + strings.Repeat("ü \\u202e", 5<<20/9) + `"}`),
		"numbers":    []byte("[" + strings.Repeat("[10000000],", 5<<20/11) + "1]"),
		"html":       []byte(strings.Repeat("<p>", 5<<20/3)),
		"line feeds": []byte(strings.Repeat("\n", 5<<20)),
	}
}

// pressed are keys that a person may press to look through a message.
const pressed = "down down pgdown pgdown - + z z > > < end up up home w end pgdown > w down / t y r o l enter n n n N Z Z down w / ü enter n"

// slowest returns the time to open a body, and the time from the slowest key to the drawn screen. Every key is pressed several times and its
// best time counts, so that other work of the machine makes no difference.
func slowest(body []byte) (open, slowest time.Duration, key string) {
	keys := strings.Fields(pressed)
	best := map[int]time.Duration{}
	keep := func(i int, took time.Duration) {
		if was, known := best[i]; !known || took < was {
			best[i] = took
		}
	}
	open = time.Hour
	for range 3 {
		m := screen.NewMessage(theme("dark"), func() screen.Secrets { return nil })
		m.Show([]flow.Line{{Kind: flow.StartLine, Text: "HTTP/1.1 200 OK"}}, body, nil)
		size := screen.Size{Width: 120, Height: 40}
		began := time.Now()
		m.View(size)
		open = min(open, time.Since(began))
		for i, k := range keys {
			began := time.Now()
			cmd := m.Update(keyOf(k))
			m.View(size)
			keep(i, time.Since(began))
			handling := time.Duration(0)
			for cmd != nil { // the command runs in the background; only the handling of its message delays the screen
				msg := cmd()
				began = time.Now()
				cmd = m.Update(msg)
				m.View(size)
				handling = max(handling, time.Since(began))
			}
			keep(len(keys)+i, handling)
		}
	}
	for i, took := range best {
		if took > slowest {
			slowest, key = took, keys[i%len(keys)]
		}
	}
	return open, slowest, key
}

// BenchmarkKey checks that a body opens within 50 ms and that each key is handled within one frame (16 ms).
func BenchmarkKey(b *testing.B) {
	for name, body := range worst() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				open, key, which := slowest(body)
				b.ReportMetric(float64(open.Microseconds())/1000, "open-ms")
				b.ReportMetric(float64(key.Microseconds())/1000, "key-ms")
				if open > 50*time.Millisecond {
					b.Errorf("opened after %v, the target is at most 50 ms", open)
				}
				if key > 16*time.Millisecond {
					b.Errorf("%v for %q, the target is at most 16 ms", key, which)
				}
			}
		})
	}
}

// BenchmarkMemory measures what a pane keeps besides the message.
func BenchmarkMemory(b *testing.B) {
	for name, body := range worst() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				m := screen.NewMessage(theme("dark"), func() screen.Secrets { return nil })
				m.Show(nil, body, nil)
				for _, k := range strings.Fields(pressed) {
					m.View(screen.Size{Width: 120, Height: 40})
					m.Update(keyOf(k))
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(m)
				megabytes := float64(after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc)) / (1 << 20)
				b.ReportMetric(megabytes, "MB")
				if megabytes > 40 {
					b.Errorf("%.3g MB, the target is at most 40", megabytes)
				}
			}
		})
	}
}
