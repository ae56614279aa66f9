package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/limit"
)

// operationFlags say how a sandbox is operated: how often it may be asked, and what it logs.
type operationFlags struct {
	rate    string
	verbose bool
}

func (o *operationFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.rate, "rate-limit", "", "how often each client may ask, and each address without a good token, such as 20/s or 60/m: more is answered 429 with Retry-After")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log each request on stderr")
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

func (o *operationFlags) logger(out io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}
