// Command tidy measures `earshot run tidy` from the start of the built binary to its
// question: wall clock, processor time and peak memory, the median of several runs,
// each on a fresh ledger. Beside them it times a peer that finds the same duplicates.
//
//	go run ./tidy -files 1000 -duplicates 100 -folders 50 -runs 5
//	go run ./tidy -files 100000 -duplicates 10000 -folders 5000 -runs 3
//
// The files are made again in a temporary folder, which is removed at the end. The
// question is answered with reject, so that nothing is deleted; one last run accepts.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/bench"
)

type settings struct {
	files, duplicates, folders, runs int
	peer                             string
}

func main() {
	var s settings
	flag.IntVar(&s.files, "files", 1000, "how many files")
	flag.IntVar(&s.duplicates, "duplicates", 100, "how many of them equal another one")
	flag.IntVar(&s.folders, "folders", 50, "in how many folders")
	flag.IntVar(&s.runs, "runs", 5, "how many runs; the median counts")
	flag.StringVar(&s.peer, "peer", "jdupes -r -q -m", "a command that finds duplicates in the folder that follows it; empty for none")
	flag.Parse()
	if err := measure(s); err != nil {
		log.Fatal(err)
	}
}

func measure(s settings) error {
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "files")
	if err := fill(root, s); err != nil {
		return err
	}
	binary, err := bench.Binary(dir)
	if err != nil {
		return err
	}
	var ours []run
	for i := range s.runs {
		r, err := once(binary, root, filepath.Join(dir, "data"+strconv.Itoa(i)), "reject\n", 3)
		if err != nil {
			return err
		}
		ours = append(ours, r)
	}
	fmt.Printf("%d files, %d duplicates, %d folders, median of %d\n", s.files, s.duplicates, s.folders, s.runs)
	fmt.Printf("  start to question, wall      %8.3f s\n", median(ours, func(r run) float64 { return r.wall.Seconds() }))
	fmt.Printf("  start to question, processor %8.3f s\n", median(ours, func(r run) float64 { return r.cpu.Seconds() }))
	fmt.Printf("  peak resident memory         %8.1f MiB\n", median(ours, func(r run) float64 { return float64(r.peak) / 1024 }))
	fmt.Printf("  tool calls before question   %8.0f\n", median(ours, func(r run) float64 { return float64(r.calls) }))
	if err := peer(s, root); err != nil {
		return err
	}
	r, err := once(binary, root, filepath.Join(dir, "accepted"), "accept\n", 0)
	if err != nil {
		return err
	}
	fmt.Printf("  one whole run with accept: wall %.3f s (3 s of it to undo), processor %.3f s, peak %.1f MiB\n",
		r.wholeWall.Seconds(), r.wholeCPU.Seconds(), float64(r.wholePeak)/1024)
	return nil
}

func median(runs []run, of func(run) float64) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// fill makes the files: sizes from 200 to about 4,200 bytes, each size shared by
// several files, the duplicates spread over all folders.
func fill(root string, s settings) error {
	if s.duplicates >= s.files || s.folders < 1 {
		return errors.New("there must be fewer duplicates than files, and a folder")
	}
	for i := range s.folders {
		if err := os.MkdirAll(folder(root, i), 0o750); err != nil {
			return err
		}
	}
	unique := s.files - s.duplicates
	for i := range s.files {
		content := i
		if i >= unique {
			content = (i - unique) % unique
		}
		text := strings.Repeat(fmt.Sprintf("content %09d\n", content), 10+content%180)
		path := filepath.Join(folder(root, i%s.folders), fmt.Sprintf("file-%06d.txt", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func folder(root string, i int) string {
	return filepath.Join(root, fmt.Sprintf("shelf-%02d", i%100), fmt.Sprintf("box-%04d", i))
}

// run is what one start of the program took until it asked.
type run struct {
	wall, cpu time.Duration
	peak      int64 // KiB
	calls     int

	wholeWall, wholeCPU time.Duration // to the end
	wholePeak           int64         // KiB
}

// once runs the program, answers its question, and expects its exit code.
func once(binary, root, data, word string, code int) (run, error) {
	var r run
	c := exec.Command(binary, "run", "tidy", "--json", "--data", data, root)
	in, err := c.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return r, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return r, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"aaep:agent.tool.invoked"`) {
			r.calls++
		}
		if strings.Contains(lines.Text(), `"aaep:agent.awaiting.confirmation"`) {
			break
		}
	}
	r.wall = time.Since(began)
	if r.cpu, r.peak, err = usage(c.Process.Pid); err != nil {
		return r, fmt.Errorf("it ended before it asked: %w", err)
	}
	if _, err := io.WriteString(in, word); err != nil {
		return r, err
	}
	for lines.Scan() {
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != code {
		return r, fmt.Errorf("it should exit with %d: %w", code, err)
	}
	r.wholeWall = time.Since(began)
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	r.wholeCPU = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	r.wholePeak = used.Maxrss
	return r, nil
}

// usage reads the processor time and the peak memory of a running process.
func usage(pid int) (time.Duration, int64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	const ticks = 100 // per second, on every Linux that Go runs on
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			peak, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return time.Duration(user+system) * time.Second / ticks, peak, err
		}
	}
	return 0, 0, errors.New("no peak memory is told")
}

// peer times another program on the same folder, in the same run.
func peer(s settings, root string) error {
	words := strings.Fields(s.peer)
	if len(words) == 0 {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		fmt.Printf("  peer %s: not installed\n", words[0])
		return nil
	}
	var wall, cpu []float64
	for range s.runs {
		c := exec.Command(words[0], append(slices.Clone(words[1:]), root)...)
		began := time.Now()
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", s.peer, err, out)
		}
		wall = append(wall, time.Since(began).Seconds())
		used := c.ProcessState.SysUsage().(*syscall.Rusage)
		cpu = append(cpu, time.Duration(used.Utime.Nano()+used.Stime.Nano()).Seconds())
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	fmt.Printf("  peer %-8s wall %8.3f s, processor %8.3f s\n", words[0], wall[len(wall)/2], cpu[len(cpu)/2])
	return nil
}
