// The library from Go, by cgo: checks a model, or records what goroutines do to a queue and asks whether it was linearizable.
//
//	go build -o example .              (pkg-config finds intact; CGO_ENABLED=1)
//	./example check ../../lost-update.atm    verdicts, and the run of each that is violated
//	./example queue                    goroutines use the queue as they like
//	./example queue twice              two dequeues are made to overlap: both take the same element
//
// Exit code: 0 holds, 1 violated, 2 wrong input, 3 unknown.
package main

/*
#cgo pkg-config: intact
#include <intact/intact.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// ---- models ----

func word(v C.enum_intact_verdict) string {
	switch v {
	case C.INTACT_HOLDS:
		return "holds"
	case C.INTACT_VIOLATED:
		return "VIOLATED"
	}
	return "unknown"
}

func show(d *C.struct_intact_document, i C.size_t) {
	v := C.intact_answer_verdict(d, i)
	fmt.Printf("%s: %s (%s)\n", C.GoString(C.intact_answer_name(d, i)), word(v), C.GoString(C.intact_answer_engine(d, i)))
	if v != C.INTACT_VIOLATED {
		return
	}
	fmt.Printf("  line %d: %s\n", uint32(C.intact_answer_line(d, i)), C.GoString(C.intact_answer_message(d, i)))
	for k := C.size_t(0); k < C.intact_answer_steps(d, i); k++ {
		fmt.Printf("  %-20s %s\n", C.GoString(C.intact_step_thread(d, i, k)), C.GoString(C.intact_step_text(d, i, k)))
	}
	fmt.Printf("  schedule: %s\n", C.GoString(C.intact_answer_schedule(d, i)))
}

func checkModel(path string) int {
	m, c, d := C.intact_model_new(), C.intact_check_new(), C.intact_document_new()
	defer C.intact_model_free(m)
	defer C.intact_check_free(c)
	defer C.intact_document_free(d)
	p, states, most := C.CString(path), C.CString("max-states"), C.CString("1000000")
	defer C.free(unsafe.Pointer(p))
	defer C.free(unsafe.Pointer(states))
	defer C.free(unsafe.Pointer(most))
	if C.intact_model_load(m, p) != C.INTACT_OK {
		fmt.Fprint(os.Stderr, C.GoString(C.intact_model_messages(m)))
		return 2
	}
	if C.intact_check_set(c, states, most) != C.INTACT_OK || C.intact_check_run(c, m, d) != C.INTACT_OK {
		fmt.Fprintln(os.Stderr, C.GoString(C.intact_check_messages(c)))
		return 2
	}
	for i := C.size_t(0); i < C.intact_document_answers(d); i++ {
		show(d, i)
	}
	return int(C.intact_document_verdict(d))
}

// ---- a queue, and what is seen of it ----

// queue is not linearizable: dequeue looks and takes in two critical sections.
type queue struct {
	m     sync.Mutex
	items []int64
	gap   func() // what happens between the two
}

func (q *queue) enqueue(v int64) {
	q.m.Lock()
	q.items = append(q.items, v)
	q.m.Unlock()
}

func (q *queue) dequeue() (int64, bool) {
	q.m.Lock()
	if len(q.items) == 0 {
		q.m.Unlock()
		return 0, false
	}
	v := q.items[0]
	q.m.Unlock()
	q.gap()
	q.m.Lock()
	q.items = q.items[1:]
	q.m.Unlock()
	return v, true
}

func recordedDequeue(h *C.struct_intact_history, q *queue) {
	r := C.intact_history_recorder(h)
	C.intact_invoke(r, C.INTACT_DEQUEUE, 0)
	if v, ok := q.dequeue(); ok {
		C.intact_return(r, C.int64_t(v))
	} else {
		C.intact_return_empty(r)
	}
}

func checkQueue(twice bool) int {
	h := C.intact_history_new(C.INTACT_QUEUE, 0)
	defer C.intact_history_free(h)
	q := &queue{gap: func() {}}
	r := C.intact_history_recorder(h)
	for v := int64(1); v <= 3; v++ {
		C.intact_invoke(r, C.INTACT_ENQUEUE, C.int64_t(v))
		q.enqueue(v)
		C.intact_return(r, 0)
	}
	var both, done sync.WaitGroup
	both.Add(2)
	done.Add(2)
	if twice { // neither takes before both have looked
		q.gap = func() { both.Done(); both.Wait() }
	}
	for i := 0; i < 2; i++ {
		one := func() { recordedDequeue(h, q); done.Done() }
		if twice {
			go one()
		} else {
			one()
		}
	}
	done.Wait()
	v := C.intact_history_check(h)
	fmt.Print(C.GoString(C.intact_history_report(h)))
	return int(v)
}

func main() {
	switch a := os.Args[1:]; {
	case len(a) == 2 && a[0] == "check":
		os.Exit(checkModel(a[1]))
	case len(a) == 1 && a[0] == "queue":
		os.Exit(checkQueue(false))
	case len(a) == 2 && a[0] == "queue" && a[1] == "twice":
		os.Exit(checkQueue(true))
	}
	fmt.Fprintln(os.Stderr, "usage: example check MODEL | example queue [twice]")
	os.Exit(2)
}
