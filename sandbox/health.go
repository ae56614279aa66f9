package sandbox

import "net/http"

// health answers while the node serves.
func health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the caller is gone; nobody is left to tell.
	_, _ = w.Write([]byte(`{"status":"ok"}`))
}
