package hostile_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames writes the next frames on a connection of HTTP/2; n counts its calls from 0. An error ends the connection.
type frames func(f *http2.Framer, stream uint32, n int) error

// frameFloods returns nodes that flood a connection of HTTP/2 (RFC 9113 §10.5).
func frameFloods() []attack {
	status := func(code string, ends bool) frames {
		return func(f *http2.Framer, stream uint32, _ int) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields(":status", code), EndHeaders: ends})
		}
	}
	after := func(first, then frames) frames {
		return func(f *http2.Framer, stream uint32, n int) error {
			if n == 0 {
				return first(f, stream, n)
			}
			return then(f, stream, n)
		}
	}
	attacks := []attack{
		{name: "pings without an end", typical: true, frames: func(f *http2.Framer, _ uint32, _ int) error { return f.WritePing(false, [8]byte{1}) }},
		{name: "settings without an end", frames: func(f *http2.Framer, _ uint32, _ int) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		}},
		{name: "a header on HTTP/2 that is continued without an end", frames: after(status("200", false), func(f *http2.Framer, stream uint32, _ int) error {
			return f.WriteContinuation(stream, false, fields("x-a", "b"))
		})},
		{name: "a header on HTTP/2 that unpacks to much", frames: func(f *http2.Framer, stream uint32, _ int) error {
			block := fields(":status", "200", "x-a", string(bytes.Repeat([]byte("a"), 3000)))
			block = append(block, bytes.Repeat([]byte{0x80 | 62}, 10_000)...) // the same field ten thousand times (RFC 7541 §6.1)
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndHeaders: true})
		}},
		{name: "empty data without an end", frames: after(status("200", true), func(f *http2.Framer, stream uint32, _ int) error {
			return f.WriteData(stream, false, nil)
		})},
		{name: "informational answers on HTTP/2", frames: status("103", true)},
		{name: "pushes that nobody asked for", frames: func(f *http2.Framer, stream uint32, _ int) error {
			return f.WritePushPromise(http2.PushPromiseParam{StreamID: stream, PromiseID: 2, BlockFragment: fields(":path", "/"), EndHeaders: true})
		}},
		{name: "a goodbye to every request", frames: func(f *http2.Framer, _ uint32, n int) error {
			if n > 0 {
				return io.EOF
			}
			return f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte(inscription))
		}},
		{name: "frames beyond all bounds", frames: func(f *http2.Framer, stream uint32, _ int) error {
			f.AllowIllegalWrites = true
			return f.WriteRawFrame(0x1b, 0xff, stream, make([]byte, 1<<20))
		}},
	}
	for i := range attacks {
		attacks[i].tls, attacks[i].flags = plainTLS(), []string{"--timeout", "300ms"}
	}
	return attacks
}

// fields packs names and values, in turn.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	encoder := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}) // writing to a buffer never fails
	}
	return b.Bytes()
}

// serve reads a connection up to its first request, and writes frames until the caller hangs up.
func (next frames) serve(_ *http.Server, conn *tls.Conn, _ http.Handler) {
	defer conn.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	if f.WriteSettings() != nil {
		return
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if request, ok := frame.(*http2.HeadersFrame); ok {
			for n := 0; err == nil; n++ {
				err = next(f, request.StreamID, n)
			}
			return
		}
	}
}
