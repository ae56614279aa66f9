package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/control"
)

// clockFlags are the flags of rin sandbox clock, and how far the clock is moved.
type clockFlags struct {
	to          controlTarget
	by          []string
	untilExpiry bool
	help        bool
}

func clockCommand(w world) *cobra.Command {
	var flags clockFlags
	cmd := &cobra.Command{
		Use:   "clock [+DURATION | -DURATION | --until-expiry]",
		Short: "Tell or move the time",
		Long: `Clock tells the time of a sandbox that serves, or moves it for all its nodes:
tokens expire and running calls close by it. Durations: 90s, 5m, 24h, 30d.`,
		Example: `  rin sandbox clock                          what time is it?
  rin sandbox clock +30d                     calls close
  rin sandbox clock --until-expiry           tokens issued until now are over
  rin sandbox clock -1h                      an hour back
  rin sandbox reset                          the real time again`,
		// -1h looks like a flag, so that flags are parsed here.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.parse(cmd, args); err != nil {
				return err
			}
			if flags.help {
				return cmd.Help()
			}
			return flags.run(cmd, w)
		},
	}
	flags.to.register(cmd.Flags())
	cmd.Flags().BoolVar(&flags.untilExpiry, "until-expiry", false, "move to where every token issued until now is over")
	cmd.Flags().BoolVarP(&flags.help, "help", "h", false, "help for clock")
	return cmd
}

func (f *clockFlags) parse(cmd *cobra.Command, args []string) error {
	move := regexp.MustCompile(`^[+-][0-9.]`)
	var rest []string
	for _, arg := range args {
		if move.MatchString(arg) {
			f.by = append(f.by, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	cmd.Flags().AddFlagSet(cmd.InheritedFlags())
	if err := cmd.Flags().Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			f.help = true
			return nil
		}
		return err
	}
	f.by = append(f.by, cmd.Flags().Args()...)
	if len(f.by) > 1 || len(f.by) == 1 && f.untilExpiry {
		return usage(fmt.Errorf("expected one move of the clock, got %s", strings.Join(f.by, " ")), "give one duration, or --until-expiry")
	}
	return nil
}

func (f *clockFlags) run(cmd *cobra.Command, w world) error {
	c, err := f.to.client(cmd.Context(), w)
	if err != nil {
		return err
	}
	var now control.Clock
	switch {
	case f.untilExpiry:
		now, err = c.MoveUntilExpiry()
	case len(f.by) == 1:
		var by time.Duration
		if by, err = distance(f.by[0]); err != nil {
			return err
		}
		now, err = c.Move(by)
	default:
		now, err = c.Clock()
	}
	if err != nil {
		return refused(err)
	}
	return writeClock(w.out, now)
}

// distance reads how far the clock is to be moved; Go's durations know no days.
func distance(text string) (time.Duration, error) {
	by, err := time.ParseDuration(text)
	if days, whole := strings.CutSuffix(text, "d"); err != nil && whole {
		var n int64
		if n, err = strconv.ParseInt(days, 10, 16); err == nil {
			by = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil {
		return 0, usage(fmt.Errorf("%q is no move of the clock", text), "write a sign, a number and a unit: +90s, +30d, -1h")
	}
	return by, nil
}

// writeClock tells the time, and how far it has been moved.
func writeClock(out io.Writer, now control.Clock) error {
	moved := "not moved"
	if now.Offset != "0s" {
		moved = "moved by " + now.Offset
	}
	_, err := fmt.Fprintf(out, "%s (%s)\n", now.Now.Format(time.RFC3339), moved)
	return err
}
