// Validate measures the memory and the time of `earshot validate --stream` over streams of
// several lengths, as whole processes:
//
//	go run ./validate -events 100000,10000000
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/bench"
)

func main() {
	events := flag.String("events", "100000,10000000", "lengths of the streams, in events; the first is what the others are compared with")
	write := flag.Int("write", 0, "write a stream of at least so many events to standard output, and nothing else")
	flag.Parse()
	if err := run(strings.Split(*events, ","), *write); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(lengths []string, write int) error {
	if write > 0 {
		return stream(os.Stdout, write)
	}
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return fmt.Errorf("a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	earshot, err := bench.Binary(dir)
	if err != nil {
		return err
	}
	writer, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program: %w", err)
	}
	var first int64
	for _, length := range lengths {
		n, err := strconv.Atoi(length)
		if err != nil {
			return fmt.Errorf("-events: %w", err)
		}
		peak, spent, wall, err := judge(earshot, writer, n)
		if err != nil {
			return err
		}
		if first == 0 {
			first = peak
		}
		fmt.Printf("%d events: peak %.1f MB, %.2f times the first; %.2f µs of processor time an event, %.0f s\n",
			n, float64(peak)/1e6, float64(peak)/float64(first), float64(spent.Microseconds())/float64(n), wall.Seconds())
	}
	return nil
}

// judge pipes a stream into the program and returns its peak resident memory in bytes.
func judge(earshot, writer string, n int) (peak int64, spent, wall time.Duration, err error) {
	write := exec.Command(writer, "-write", strconv.Itoa(n))
	stream, err := write.StdoutPipe()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("a pipe: %w", err)
	}
	validate := exec.Command(earshot, "validate", "--stream")
	validate.Stdin, validate.Stdout, validate.Stderr = stream, os.Stdout, os.Stderr
	began := time.Now()
	if err := write.Start(); err != nil {
		return 0, 0, 0, fmt.Errorf("the stream: %w", err)
	}
	if err := validate.Run(); err != nil {
		return 0, 0, 0, fmt.Errorf("earshot validate: %w", err)
	}
	wall = time.Since(began)
	if err := write.Wait(); err != nil {
		return 0, 0, 0, fmt.Errorf("the stream: %w", err)
	}
	used, ok := validate.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, 0, fmt.Errorf("no figures of the process on this system")
	}
	return used.Maxrss * 1024, validate.ProcessState.UserTime() + validate.ProcessState.SystemTime(), wall, nil
}
