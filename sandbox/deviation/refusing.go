package deviation

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/answer"
)

// reword makes a Wrap that changes the refusals among the answers to requests of the kinds. Other answers go their way untouched, in the
// time and with the conditions and the compression that they have.
func reword(alter change, kinds ...Kind) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		kept := &refusalWriter{to: w, answer: Answer{answer.Answer{Header: http.Header{}}}}
		next.ServeHTTP(kept, r)
		kept.WriteHeader(http.StatusOK)
		if kept.passing {
			return
		}
		kept.answer.Header = answer.Canonical(kept.answer.Header)
		alter(r, &kept.answer)
		kept.answer.send(w, r)
	}, kinds...)
}

// refusalWriter keeps an error, and passes everything else on.
type refusalWriter struct {
	to               http.ResponseWriter
	answer           Answer
	started, passing bool
}

// Header implements http.ResponseWriter.
func (w *refusalWriter) Header() http.Header {
	if w.passing {
		return w.to.Header()
	}
	return w.answer.Header
}

// WriteHeader implements http.ResponseWriter.
func (w *refusalWriter) WriteHeader(status int) {
	if w.started {
		return
	}
	w.started, w.answer.Status = status >= http.StatusOK, status
	if status >= http.StatusBadRequest {
		return
	}
	for name, values := range w.answer.Header {
		w.to.Header()[name] = values
	}
	w.passing = w.started
	w.to.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *refusalWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		return w.to.Write(b)
	}
	w.answer.Body = append(w.answer.Body, b...)
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection, of an answer that is passed on.
func (w *refusalWriter) Unwrap() http.ResponseWriter { return w.to }
