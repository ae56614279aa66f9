package sandboxtest

import (
	"net/http"
	"sync"
	"time"
)

// patience is how long the journal waits for requests that are still being answered.
const patience = 5 * time.Second

// running are the requests that are being answered. Whoever does not read an answer to its end goes on before the sandbox does.
type running struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when the last one has ended
}

// around counts the requests to next.
func (r *running) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.begin()
		defer r.end()
		next.ServeHTTP(w, q)
	})
}

func (r *running) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		r.none = make(chan struct{})
	}
	r.count++
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count--; r.count == 0 {
		close(r.none)
	}
}

// settle waits until none is running, for as long as there is patience: some never end, on purpose.
func (r *running) settle() {
	r.mu.Lock()
	none, idle := r.none, r.count == 0
	r.mu.Unlock()
	if idle {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}
