// SPDX-License-Identifier: MIT

// channels-go CASE CPUS WALL THREADS TARGET_NS - bodies.h's cases in Go. Prints
// one figure and its unit. WALL is 0 for the process's CPU time.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const capacity = 128

var wall bool

func now() int64 {
	if wall {
		return time.Now().UnixNano()
	}
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func rendezvous(n int) {
	roundTrips(n, 0)
}

func roundTrips(n, capacity int) {
	there, back := make(chan uint64, capacity), make(chan uint64, capacity)
	go func() {
		for i := 0; i < n; i++ {
			back <- <-there
		}
	}()
	for i := 0; i < n; i++ {
		there <- uint64(i)
		if <-back != uint64(i) {
			panic("a message came back another")
		}
	}
}

func stream(n, pairs, capacity int) {
	c := make(chan uint64, capacity)
	var done sync.WaitGroup
	for p := 0; p < pairs; p++ {
		done.Add(2)
		go func() {
			for i := 0; i < n; i++ {
				c <- uint64(i)
			}
			done.Done()
		}()
		go func() {
			for i := 0; i < n; i++ {
				<-c
			}
			done.Done()
		}()
	}
	done.Wait()
}

func filter(in chan uint64, left int, done chan bool, capacity int) {
	prime := <-in
	var next chan uint64
	if left > 1 {
		next = make(chan uint64, capacity)
		go filter(next, left-1, done, capacity)
	}
	for x := <-in; x != 0; x = <-in {
		if next != nil && x%prime != 0 {
			next <- x
		}
	}
	if next != nil {
		next <- 0
	} else {
		done <- true
	}
}

func sieve(n, capacity int) {
	for ; n > 0; n-- {
		first, done := make(chan uint64, capacity), make(chan bool)
		go filter(first, 2000, done, capacity)
		for x := uint64(2); x <= 17389; x++ {
			first <- x
		}
		first <- 0
		<-done
	}
}

func shortPairs(n, pairs int) {
	for ; n > 0; n-- {
		var done sync.WaitGroup
		done.Add(2 * pairs)
		for p := 0; p < pairs; p++ {
			c := make(chan uint64)
			go func() {
				for i := 0; i < 16; i++ {
					c <- uint64(i)
				}
				done.Done()
			}()
			go func() {
				for i := 0; i < 16; i++ {
					<-c
				}
				done.Done()
			}()
		}
		done.Wait()
	}
}

func sky(up chan uint64, first, leaves uint64) {
	if leaves == 1 {
		up <- first
		return
	}
	c := make(chan uint64)
	for i := uint64(0); i < 10; i++ {
		go sky(c, first+i*(leaves/10), leaves/10)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-c
	}
	up <- sum
}

// Nanoseconds a round, as bench_measure().
func measure(target int64, first int, body func(int)) float64 {
	for n := first; ; {
		begin := now()
		body(n)
		ns := now() - begin
		if ns < 1 {
			ns = 1
		}
		grow := float64(target) / float64(ns)
		if grow <= 4 {
			n = max(int(float64(n)*grow), first)
			begin = now()
			body(n)
			return float64(now()-begin) / float64(n)
		}
		n = int(float64(n)*min(grow/2, 10)) + 1
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func main() {
	question, target := os.Args[1], int64(number(os.Args[5]))
	leaves := uint64(number(os.Args[4]))
	runtime.GOMAXPROCS(number(os.Args[2]))
	wall = os.Args[3] == "1"
	switch question {
	case "rendezvous":
		fmt.Println(measure(target, 100, rendezvous), "ns")
	case "round-trip-2":
		fmt.Println(measure(target, 100, func(n int) { roundTrips(n, 2) }), "ns")
	case "one-to-one", "stream":
		fmt.Println(1e3/measure(target, 1000, func(n int) { stream(n, 1, capacity) }), "M/s")
	case "four-to-four":
		fmt.Println(1e3/(measure(target, 1000, func(n int) { stream(n, 4, capacity) })/4), "M/s")
	case "queue":	// bench/queues
		pairs := int(leaves)
		ns := measure(target, 1000, func(n int) { stream(n, pairs, 1024) })
		fmt.Println(float64(pairs)*1e3/ns, "M/s")
	case "sieve":
		fmt.Println(measure(target, 1, func(n int) { sieve(n, 0) })/1e6, "ms")
	case "sieve-2":
		fmt.Println(measure(target, 1, func(n int) { sieve(n, 2) })/1e6, "ms")
	case "short-pairs":
		fmt.Println(measure(target, 1, func(n int) { shortPairs(n, int(leaves)/2) })/1e6, "ms")
	case "skynet":
		ns := measure(target, 1, func(n int) {
			for ; n > 0; n-- {
				c := make(chan uint64)
				go sky(c, 0, leaves)
				if <-c != leaves*(leaves-1)/2 {
					panic("a wrong sum")
				}
			}
		})
		fmt.Println(ns/float64(leaves), "ns")
	default:
		os.Exit(2)
	}
}
