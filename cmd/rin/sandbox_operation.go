package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/backlog"
	"github.com/rin-network/rin/sandbox/limit"
)

// operationFlags say how a sandbox is operated: how often it may be asked, and what it logs.
type operationFlags struct {
	rate, format string
	verbose      bool
}

func (o *operationFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.rate, "rate-limit", "", "how often each client may ask, and each address without a good token, such as 20/s or 60/m: more is answered 429 with Retry-After")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log each request on stderr, without its query and headers")
	f.StringVar(&o.format, "log-format", logText, "text or json")
}

// limit reads the rate; the zero value without one.
func (o *operationFlags) limit() (limit.Rate, error) {
	if o.rate == "" {
		return limit.Rate{}, nil
	}
	rate, err := limit.Parse(o.rate)
	if err != nil {
		return limit.Rate{}, usage(fmt.Errorf("--rate-limit: %w", err), "20/s admits 20 requests at once and then one each 50 ms")
	}
	return rate, nil
}

// The formats of the log.
const logText, logJSON = "text", "json"

// log starts the log of a sandbox, which ends with it.
func (o *operationFlags) log(out io.Writer) (*sandboxLog, error) {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if o.verbose {
		options.Level = slog.LevelDebug
	}
	format := map[string]func(io.Writer) slog.Handler{
		logText: func(out io.Writer) slog.Handler { return slog.NewTextHandler(out, options) },
		logJSON: func(out io.Writer) slog.Handler { return slog.NewJSONHandler(out, options) },
	}[o.format]
	if format == nil {
		return nil, usage(fmt.Errorf("--log-format: expected text or json, got %q", o.format), "json has one object a line")
	}
	written := backlog.New(out, format)
	return &sandboxLog{slog.New(written), written}, nil
}

// sandboxLog is a log that no request waits for.
type sandboxLog struct {
	*slog.Logger
	written *backlog.Log
}

// logPatience is how long the end of a sandbox waits for its last log records.
const logPatience = 2 * time.Second

// end writes what was logged until then. That it can't be written is told nobody: there it would have stood.
func (l *sandboxLog) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logPatience)
	defer cancel()
	_ = l.written.Close(ctx)
}
