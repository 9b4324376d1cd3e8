! What mpi_f08 gives: every way to complete a request, probes, persistent requests, collectives,
! communicators, windows; with and without statuses and errors. For two ranks or more.
program families_f08
  use mpi_f08
  use expectations
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: rank, ranks, next, previous, provided, error
  integer :: a(64), b(64)
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call expect_open(rank)
  a = rank
  b = 0
  call messages()
  call completions()
  call persistent()
  call collectives()
  call communicators()
  call windows()
  call errors()
  call expect_close()
  call MPI_Finalize()
contains
  subroutine messages()
    type(MPI_Status) :: status
    type(MPI_Message) :: message
    type(MPI_Request) :: request, received
    logical :: flag
    call MPI_Sendrecv(a, 3, MPI_INTEGER, next, 1, b, 64, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect_message('SEND', world, next, 1, 12)
    call expect_message('RECV', world, previous, 1, 12)
    if (b(1) /= previous) stop 1
    call MPI_Isend(a, 2, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, request)
    call MPI_Probe(rank, 2, MPI_COMM_WORLD, status)
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(rank, 2, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    end do
    call MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
    call MPI_Mrecv(b, 64, MPI_INTEGER, message, status)
    if (status%MPI_SOURCE /= rank .or. status%MPI_TAG /= 2) stop 2
    call MPI_Wait(request, status)
    call expect_message('ISEND', world, rank, 2, 8)
    call expect_message('RECV', world, rank, 2, 8)
    call expect('ISEND_COMPLETE')
    call MPI_Isend(a, 4, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, request)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(rank, 3, MPI_COMM_WORLD, flag, message, status, error)
    end do
    call MPI_Imrecv(b, 64, MPI_INTEGER, message, received)
    call MPI_Wait(received, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect_message('ISEND', world, rank, 3, 16)
    call expect('IRECV_REQUEST')
    call expect_message('IRECV', world, rank, 3, 16)
    call expect('ISEND_COMPLETE')
    call MPI_Irecv(b, 1, MPI_INTEGER, previous, 99, MPI_COMM_WORLD, request)
    call MPI_Cancel(request)
    call MPI_Wait(request, status)
    call MPI_Test_cancelled(status, flag)
    if (.not. flag) stop 3
    call expect('IRECV_REQUEST')
    call expect('REQUEST_CANCELLED')
    call MPI_Isend(a, 1, MPI_INTEGER, next, 98, MPI_COMM_WORLD, request)
    call MPI_Request_free(request)
    call MPI_Recv(b, 1, MPI_INTEGER, previous, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect_message('ISEND', world, next, 98, 4)
    call expect_message('RECV', world, previous, 98, 4)
  end subroutine

  ! Two requests in each way, with statuses and without. The indices are not looked at: MPICH 4.0
  ! counts from 0.
  subroutine completions()
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    integer :: way, length
    do way = 1, 16
      length = 1 + way
      call MPI_Irecv(b, 64, MPI_INTEGER, previous, 10 + way, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(a, length, MPI_INTEGER, next, 10 + way, MPI_COMM_WORLD, requests(2))
      call expect('IRECV_REQUEST')
      call expect_message('ISEND', world, next, 10 + way, 4 * length)
      if (way <= 8) then
        call complete(way, requests, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE)
      else
        call complete(way - 8, requests, statuses(1), statuses)
        ! In the odd ways the first status, or the last call's, is the receive's.
        if (mod(way, 2) == 1 .and. statuses(1)%MPI_SOURCE /= previous) stop 4
      end if
      if (b(1) /= previous) stop 5
      call expect('ISEND_COMPLETE')
      call expect_message('IRECV', world, previous, 10 + way, 4 * length)
    end do
  end subroutine

  subroutine complete(way, requests, status, statuses)
    integer, intent(in) :: way
    type(MPI_Request), intent(inout) :: requests(2)
    type(MPI_Status) :: status, statuses(*)
    integer :: done, index, some, indices(2)
    logical :: flag
    done = 0
    do while (done < 2)
      flag = .true.
      select case (way)
      case (1)
        call MPI_Wait(requests(2 - done), status)
      case (2)
        call MPI_Waitany(2, requests, index, status)
      case (3)
        call MPI_Waitall(2, requests, statuses)
        done = 1
      case (4)
        call MPI_Waitsome(2, requests, some, indices, statuses)
        done = done + some - 1
      case (5)
        call MPI_Test(requests(2 - done), flag, status)
      case (6)
        call MPI_Testany(2, requests, index, flag, status)
      case (7)
        call MPI_Testall(2, requests, flag, statuses)
        if (flag) done = 1
      case (8)
        call MPI_Testsome(2, requests, some, indices, statuses)
        done = done + some - 1
      end select
      if (flag) done = done + 1
    end do
  end subroutine

  subroutine persistent()
    type(MPI_Request) :: requests(2)
    integer :: i
    call MPI_Recv_init(b, 64, MPI_INTEGER, previous, 40, MPI_COMM_WORLD, requests(1))
    call MPI_Send_init(a, 6, MPI_INTEGER, next, 40, MPI_COMM_WORLD, requests(2))
    do i = 1, 2
      if (i == 1) then
        call MPI_Startall(2, requests)
      else
        call MPI_Start(requests(1))
        call MPI_Start(requests(2))
      end if
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call expect('IRECV_REQUEST')
      call expect_message('ISEND', world, next, 40, 24)
      call expect('ISEND_COMPLETE')
      call expect_message('IRECV', world, previous, 40, 24)
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  subroutine collectives()
    type(MPI_Request) :: request
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect_collective(world, barrier, -1, 0, 0)
    call MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect_collective(world, allreduce, -1, 16, 16)
    call MPI_Bcast(b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect_collective(world, bcast, 0, merge(8, 0, rank == 0), merge(0, 8, rank == 0))
    call MPI_Ibarrier(MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect('ICOLLECTIVE_REQUEST')
    call expect('ICOLLECTIVE_COMPLETE comm='//world//' op=0 root=-1 sent=0 received=0')
  end subroutine

  subroutine made(comm, name)
    type(MPI_Comm), intent(inout) :: comm
    character(len=*), intent(in) :: name
    integer :: own, members, to, from
    call MPI_Comm_set_name(comm, name)
    call MPI_Comm_rank(comm, own)
    call MPI_Comm_size(comm, members)
    to = mod(own + 1, members)
    from = mod(own + members - 1, members)
    call MPI_Sendrecv(a, 1, MPI_INTEGER, to, 5, b, 1, MPI_INTEGER, from, 5, comm, MPI_STATUS_IGNORE)
    call expect_message('SEND', name, to, 5, 4)
    call expect_message('RECV', name, from, 5, 4)
    call MPI_Barrier(comm)
    call expect_collective(name, barrier, -1, 0, 0)
    call MPI_Comm_free(comm)
    call expect_collective(name, destroy, -1, 0, 0)
  end subroutine

  subroutine communicators()
    type(MPI_Comm) :: comm, half, inter, cart
    type(MPI_Group) :: group, pair
    type(MPI_Request) :: request
    integer :: parity
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call expect_collective(world, create, -1, 0, 0)
    call made(comm, 'dup')
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, comm)
    call expect_collective(world, create, -1, 0, 0)
    call made(comm, 'dup with info')
    call MPI_Comm_idup(MPI_COMM_WORLD, comm, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call made(comm, 'idup')
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
    call expect_collective(world, create, -1, 0, 0)
    call made(comm, 'reverse')
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, comm)
    call expect_collective(world, create, -1, 0, 0)
    call made(comm, 'node')
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Group_incl(group, 2, [0, 1], pair)
    call MPI_Comm_create(MPI_COMM_WORLD, pair, comm)
    call expect_collective(world, create, -1, 0, 0)
    if (rank < 2) then
      call made(comm, 'pair')
      call MPI_Comm_create_group(MPI_COMM_WORLD, pair, 3, comm)
      call made(comm, 'group pair')
    end if
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., cart)
    call expect_collective(world, create, -1, 0, 0)
    call MPI_Comm_set_name(cart, 'cart')
    call MPI_Cart_sub(cart, [.true.], comm)
    call expect_collective('cart', create, -1, 0, 0)
    call made(comm, 'cart sub')
    call made(cart, 'cart')
    parity = mod(rank, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, parity, rank, half)
    call expect_collective(world, create, -1, 0, 0)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - parity, 5, inter)
    call MPI_Intercomm_merge(inter, parity == 1, comm)
    call made(comm, 'merged')
    call MPI_Comm_set_name(inter, 'inter')
    call MPI_Comm_disconnect(inter)
    call made(half, merge('odd ', 'even', parity == 1))
  end subroutine

  subroutine windows()
    type(MPI_Win) :: win
    type(MPI_Group) :: group, to, from
    type(MPI_Request) :: request
    type(c_ptr) :: memory
    integer, allocatable :: exposed(:) ! aligned to 16 bytes, or else MPICH 4.0.2 puts beside it
    integer(kind=MPI_ADDRESS_KIND) :: bytes, zero
    logical :: flag
    integer :: i
    bytes = 256
    zero = 0
    allocate (exposed(64))
    call MPI_Win_create(exposed, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call expect_window(create)
    call MPI_Win_fence(0, win)
    call MPI_Put(a, 5, MPI_INTEGER, next, zero, 5, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect_on_window(barrier)
    call expect_remote('PUT', next, 20)
    call expect('OP_COMPLETE_REMOTE')
    call expect_on_window(barrier)
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Group_incl(group, 1, [next], to)
    call MPI_Group_incl(group, 1, [previous], from)
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Win_complete(win)
    call MPI_Win_wait(win)
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Win_complete(win)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag)
    end do
    do i = 1, 4
      call expect('GROUP_SYNC group='//digits(previous))
    end do
    do i = 1, 4
      call expect('GROUP_SYNC group='//digits(next))
    end do
    call MPI_Win_free(win)
    call expect_window_freed()
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
    call expect_window(create_and_allocate)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
    call expect('ACQUIRE_LOCK remote='//digits(next)//' op=0')
    call MPI_Put(a, 2, MPI_INTEGER, next, zero, 2, MPI_INTEGER, win)
    call MPI_Win_flush_local(next, win)
    call MPI_Win_flush(next, win)
    call MPI_Win_unlock(next, win)
    call expect_remote('PUT', next, 8)
    call expect('OP_COMPLETE_NON_BLOCKING')
    call expect('OP_COMPLETE_REMOTE')
    call expect('RELEASE_LOCK remote='//digits(next))
    call MPI_Win_lock_all(0, win)
    call expect('ACQUIRE_LOCK remote=-1 op=1')
    call MPI_Rput(a, 3, MPI_INTEGER, next, zero, 3, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect_remote('PUT', next, 12)
    call expect('OP_COMPLETE_NON_BLOCKING')
    call MPI_Put(a, 4, MPI_INTEGER, next, zero, 4, MPI_INTEGER, win)
    call MPI_Win_flush_local_all(win)
    call MPI_Win_flush_all(win)
    call MPI_Win_unlock_all(win)
    call expect_remote('PUT', next, 16)
    call expect('OP_COMPLETE_NON_BLOCKING')
    call expect('OP_COMPLETE_REMOTE')
    call expect('RELEASE_LOCK remote=-1')
    call MPI_Win_free(win)
    call expect_window_freed()
  end subroutine

  ! What failed gives no event.
  subroutine errors()
    type(MPI_Comm) :: comm
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call expect_collective(world, create, -1, 0, 0)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Send(a, 1, MPI_INTEGER, ranks + 5, 1, comm, error)
    if (error == MPI_SUCCESS) stop 6
    call made(comm, 'errors')
  end subroutine
end program
