package tuitest

import (
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// patience is for what never ends: a test that works does not wait for it.
const patience = time.Minute

// Commands run commands as a program does: all at the same time, those of a batch each for itself. What comes of them is taken by one goroutine.
type Commands struct {
	messages chan tea.Msg
	open     atomic.Int64
}

// NewCommands runs a command.
func NewCommands(first tea.Cmd) *Commands {
	c := &Commands{messages: make(chan tea.Msg)}
	c.Start(first)
	return c
}

// Start runs a command, too, unless all it does is wait: time passes when the test says so.
func (c *Commands) Start(cmd tea.Cmd) {
	if cmd == nil || timed(cmd) {
		return
	}
	c.open.Add(1)
	go func() {
		msg := cmd()
		batch, _ := msg.(tea.BatchMsg)
		for _, cmd := range batch {
			c.Start(cmd)
		}
		c.messages <- msg
	}()
}

// timed tells a cursor that will blink, and a tick. Nothing but the name of its function tells what a command is; should that be another one some
// day, tests get slower and say the same.
func timed(cmd tea.Cmd) bool {
	name := runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name()
	return strings.Contains(name, "BlinkCmd.func") || strings.Contains(name, "Tick.func")
}

// Next waits for a message; ok is false when nothing is under way.
func (c *Commands) Next(t testing.TB) (msg tea.Msg, ok bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for c.open.Load() > 0 {
		select {
		case msg = <-c.messages:
		case <-late.C:
			t.Fatalf("%d commands had no end within %s", c.open.Load(), patience)
		}
		c.open.Add(-1)
		if _, several := msg.(tea.BatchMsg); !several && msg != nil {
			return msg, true
		}
	}
	return nil, false
}

// Settle runs a command and whatever comes of it, until nothing is under way.
func Settle(t testing.TB, first tea.Cmd, update func(tea.Msg) tea.Cmd) {
	t.Helper()
	all := NewCommands(first)
	for msg, ok := all.Next(t); ok; msg, ok = all.Next(t) {
		all.Start(update(msg))
	}
}
