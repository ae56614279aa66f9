package worker

import "bytes"

// tail keeps the last bytes that were written to it. Only the command's copying goroutine writes, and Wait ends it.
type tail struct {
	limit int
	buf   bytes.Buffer
	cut   bool
}

// Write implements io.Writer. It keeps twice the limit, so that a secret at the cut is whole when the text is redacted.
func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - 2*t.limit; over > 0 {
		t.buf.Next(over)
		t.cut = true
	}
	return len(p), nil
}

// redacted returns the end of the text, of whole lines where something had to go.
func (t *tail) redacted(redact func([]byte) []byte) []byte {
	text := redact(t.buf.Bytes())
	if !t.cut && len(text) <= t.limit {
		return text
	}
	text = text[max(0, len(text)-t.limit):]
	return text[bytes.IndexByte(text, '\n')+1:]
}
