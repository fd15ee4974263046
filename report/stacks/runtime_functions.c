/* The table of runtime functions. A name with * at its end matches all names with that prefix. */
#include "report/stacks/runtime_functions.h"

#include <stddef.h>
#include <string.h>

static const char *const functions[] = {
	/* the C library, linked statically */
	"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
	"posix_memalign", "valloc", "pvalloc", "free", "strdup", "strndup", "asprintf", "vasprintf",
	"mmap", "mmap64", "munmap", "mremap", "madvise", "brk", "sbrk", "memset", "memcpy",
	"memmove", "__libc_*", "__GI_*", "_int_malloc", "_int_realloc", "_int_memalign",
	"_int_free", "_mid_memalign", "sysmalloc", "sysmalloc_mmap", "sysmalloc_mmap_fallback",
	"malloc_consolidate", "grow_heap", "new_heap", "arena_get2", "ptmalloc_init", "tcache_init",
	"__default_morecore", "__glibc_morecore", "__mmap", "__mmap64", "__brk", "__sbrk",
	"__strdup", "__memset_*", "__memcpy_*", "__memmove_*", "__syscall*", "syscall", "_start",
	"_init",
	/* C++ and Rust */
	"operator new*", "operator delete*", "std::*", "<std::*", "__gnu_cxx::*", "_Znwm*",
	"_Znam*", "_ZdlPv*", "_ZNSt*", "_ZNKSt*", "_ZSt*", "_ZN9__gnu_cxx*", "alloc::*",
	"<alloc::*", "core::*", "<core::*", "hashbrown::*", "<hashbrown::*", "__rust_*", "__rdl_*",
	"__rg_*", "__rustc::*",
	/* Go */
	"runtime.*", "runtime/*", "internal/runtime/*", "x_cgo_*", "_cgo_*",
	/* jemalloc, tcmalloc, mimalloc */
	"je_*", "_rjem_*", "jemalloc_*", "os_pages_map", "os_pages_commit", "pages_map*",
	"extent_grow_retained", "extent_alloc_mmap*", "base_block_alloc", "base_map",
	"arena_bin_malloc_hard", "malloc_default", "tcmalloc::*", "tc_*", "mi_*", "_mi_*",
	/* wrappers: GNU programs, GLib, OpenSSL, SQLite, libuv */
	"xmalloc*", "xcalloc", "xrealloc*", "x2realloc", "x2nrealloc", "xnmalloc", "xnrealloc",
	"xzalloc", "xpalloc", "xmemdup*", "xstrdup", "xstrndup", "g_malloc*", "g_realloc*",
	"g_try_malloc*", "g_try_realloc*", "g_slice_alloc*", "g_strdup", "CRYPTO_malloc",
	"CRYPTO_zalloc", "CRYPTO_realloc", "sqlite3Malloc*", "sqlite3MemMalloc", "sqlite3Realloc*",
	"sqlite3DbMalloc*", "sqlite3DbRealloc*", "sqlite3_malloc*", "sqlite3_realloc*",
	"uv__malloc", "uv__calloc", "uv__realloc",
	/* allocators of servers: redis, PostgreSQL, MySQL, nginx */
	"zmalloc*", "zcalloc*", "zrealloc*", "ztrymalloc*", "ztrycalloc*", "ztryrealloc*",
	"zstrdup", "palloc", "palloc0", "palloc_*", "repalloc*", "pstrdup", "MemoryContextAlloc*",
	"MemoryContextStrdup", "AllocSetAlloc*", "AllocSetRealloc", "GenerationAlloc*",
	"SlabAlloc*", "BumpAlloc*", "my_malloc", "my_realloc", "my_raw_malloc", "my_multi_malloc",
	"alloc_root", "multi_alloc_root", "MEM_ROOT::*", "ngx_alloc", "ngx_calloc", "ngx_memalign",
	"ngx_palloc*", "ngx_pnalloc", "ngx_pcalloc", "ngx_pmemalign",
	/* interpreters and virtual machines: CPython, HotSpot, Node */
	"PyMem_*", "_PyMem_*", "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc",
	"_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "_PyObject_Arena*",
	"pymalloc_alloc", "new_arena", "allocate_from_new_pool", "os::malloc", "os::realloc",
	"os::commit_memory*", "os::reserve_memory*", "os::pretouch_memory", "os::pd_*",
	"os::Linux::*", "AllocateHeap", "ReallocateHeap", "node::UncheckedMalloc*",
	"node::UncheckedCalloc*", "node::UncheckedRealloc*", "node::Malloc*", "node::Calloc*",
	"node::Realloc*",
	/*
	 * functions by which V8 and HotSpot allocate objects, and copy them during a collection,
	 * but not functions that begin a collection
	 */
	"v8::base::*", "v8::platform::*", "v8::internal::Scavenger::*",
	"v8::internal::ScavengerCollector::JobTask::ProcessItems",
	"v8::internal::BodyDescriptorBase::*", "v8::internal::PagedSpaceBase::*",
	"v8::internal::PagedSpace::*", "v8::internal::CompactionSpace::*",
	"v8::internal::MemoryAllocator::*", "v8::internal::VirtualMemory::*",
	"v8::internal::MemoryChunk::*", "v8::internal::BasicMemoryChunk::*",
	"v8::internal::Page::*", "v8::internal::SemiSpace::*", "v8::internal::SemiSpaceNewSpace::*",
	"v8::internal::LargePage::*", "v8::internal::Evacuator::*",
	"v8::internal::EvacuateVisitorBase::*", "v8::internal::EvacuateNewSpaceVisitor::*",
	"VirtualSpace::*", "PSVirtualSpace::*", "G1PageBasedVirtualSpace::*", "Generation::*",
	"CardGeneration::*", "TenuredGeneration::*", "ContiguousSpace::*",
	"ContiguousSpaceDCTOC::*", "FilteringDCTOC::*", "DirtyCardToOopClosure::*",
	"FilteringClosure::*", "CardTableRS::*", "OopOopIterateDispatch<*", "FastScanClosure<*",
	"CLDScanClosure::*", "ClassLoaderData::ChunkedHandleList::*", "ClassLoaderDataGraph::*",
	"DefNewGeneration::copy_to_survivor_space",
	"DefNewGeneration::FastEvacuateFollowersClosure::*", "SerialHeap::*",
	"GenCollectedHeap::process_roots", "PSPromotionManager::*", "MutableSpace::*",
	"G1ParScanThreadState::*", "G1ParCopyClosure*", "MemAllocator::*", "ObjAllocator::*",
	"ObjArrayAllocator::*", "TypeArrayKlass::allocate*", "ObjArrayKlass::allocate*",
	"InstanceKlass::allocate*", "CollectedHeap::*", "Runtime1::new_*", "OptoRuntime::new_*"};

/* Functions that map or open the pages of a garbage-collected heap. */
static const char *const page_allocators[] = {
	"v8::base::OS::*",	     "VirtualSpace::expand_by",
	"PSVirtualSpace::expand_by", "G1PageBasedVirtualSpace::commit*",
	"runtime.sysMap*",	     "runtime.sysReserve*",
	"runtime.sysAlloc*"};

/* jemalloc, tcmalloc, mimalloc; Python */
static const char *const arena_mappers[] = {
	"os_pages_map",		 "pages_map*",		"extent_alloc_mmap*",
	"je_pages_map*",	 "_rjem_je_pages_map*", "TCMalloc_SystemAlloc*",
	"tcmalloc::MmapRegion*", "MmapSysAllocator::*", "_mi_os_alloc*",
	"_mi_prim_alloc*",	 "unix_mmap*",		"_PyObject_Arena*",
	"_PyMem_ArenaAlloc"};

/* HotSpot: the threads of collectors, and collector functions that its VM thread runs. */
static const char *const collectors[] = {"GangWorker::run*",
					 "WorkerThread::run*",
					 "GCTaskThread::run*",
					 "ConcurrentGCThread::run*",
					 "VM_GC_Operation::*",
					 "VM_GenCollect*",
					 "VM_ParallelGC*",
					 "VM_G1*",
					 "VM_ParallelCollect*",
					 "v8::internal::Scavenger*",
					 "v8::internal::MarkCompactCollector::*",
					 "v8::internal::Heap::CollectGarbage*"};

static bool matches(const char *name, const char *entry)
{
	size_t size = strlen(entry);

	return entry[size - 1] == '*' ? !strncmp(name, entry, size - 1) : !strcmp(name, entry);
}

/* The name without the return type that template functions have: "void std::f<int>(int)". */
static const char *after_type(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (const char *at = name; *at && (*at != '(' || depth); at++) {
		depth += *at == '<';
		depth -= *at == '>' && depth > 0;
		if (*at == ' ' && !depth && !strncmp(begin, "operator", 8))
			break;
		if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}

static bool is_listed(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (matches(name, functions[i]))
			return true;
	}
	return false;
}

/* True for Rust library code for plain types: "<u8 as alloc::vec::SpecFromElem>::from_elem". */
static bool is_for_plain_type(const char *name)
{
	const char *trait = *name == '<' ? strstr(name, " as ") : NULL;

	return trait && !memmem(name, (size_t)(trait - name), "::", 2) &&
	       is_listed(trait + strlen(" as "));
}

bool mt_is_runtime_function(const char *name)
{
	const char *after;

	name += strncmp(name, "? ", 2) ? 0 : 2;
	if (is_listed(name) || is_for_plain_type(name))
		return true;
	after = strchr(name, '<') || strchr(name, '(') ? after_type(name) : name;
	return after != name && is_listed(after);
}

static bool matches_any(const char *name, const char *const *entries, size_t count)
{
	name += strncmp(name, "? ", 2) ? 0 : 2;
	for (size_t i = 0; i < count; i++) {
		if (matches(name, entries[i]))
			return true;
	}
	return false;
}

bool mt_is_page_allocator(const char *name)
{
	return matches_any(name, page_allocators,
			   sizeof(page_allocators) / sizeof(page_allocators[0]));
}

bool mt_is_arena_mapper(const char *name)
{
	return matches_any(name, arena_mappers, sizeof(arena_mappers) / sizeof(arena_mappers[0]));
}

bool mt_is_collector(const char *name)
{
	return matches_any(name, collectors, sizeof(collectors) / sizeof(collectors[0]));
}

bool mt_is_runtime_source(const char *file)
{
	return !strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/", 9) ||
	       !strncmp(file, "/usr/local/include/", 19) || strstr(file, "/include/c++/") ||
	       strstr(file, "/rustc/") || strstr(file, "/rustlib/src/") ||
	       strstr(file, "/go/src/runtime/");
}
