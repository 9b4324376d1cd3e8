! What the Fortran bindings give: messages, wildcards, requests, collectives, communicators; by
! mpif.h's calling convention.
program families
  use mpi
  use expectations
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: rank, count, next, previous, error, request(2), status(MPI_STATUS_SIZE), comm, i
  integer :: statuses(MPI_STATUS_SIZE, 2), outcount, indices(2), win, index
  logical :: flag
  integer :: a(64), b(64)
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(c_ptr) :: memory
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, count, error)
  next = mod(rank + 1, count)
  previous = mod(rank + count - 1, count)
  call expect_open(rank)
  a = rank
  b = 0
  call MPI_Sendrecv(a, 3, MPI_INTEGER, next, 1, b, 64, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call expect_message('SEND', world, next, 1, 12)
  call expect_message('RECV', world, previous, 1, 12)
  if (b(1) /= previous) stop 1
  do i = 1, 6
    call MPI_Irecv(b, 64, MPI_INTEGER, previous, 10 + i, MPI_COMM_WORLD, request(1), error)
    call MPI_Isend(a, 2 + i, MPI_INTEGER, next, 10 + i, MPI_COMM_WORLD, request(2), error)
    call expect('IRECV_REQUEST')
    call expect_message('ISEND', world, next, 10 + i, 4 * (2 + i))
    select case (i)
    case (1)
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, error)
    case (2)
      call MPI_Wait(request(1), status, error)
      if (status(MPI_SOURCE) /= previous) stop 2
      call MPI_Wait(request(2), MPI_STATUS_IGNORE, error)
    case (3)
      call MPI_Waitany(2, request, index, MPI_STATUS_IGNORE, error)
      call MPI_Waitany(2, request, index, status, error)
    case (4)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(2, request, flag, statuses, error)
      end do
    case (5)
      index = 0
      do while (index < 2)
        call MPI_Waitsome(2, request, outcount, indices, statuses, error)
        index = index + outcount
      end do
    case (6)
      do index = 1, 2
        flag = .false.
        do while (.not. flag)
          call MPI_Test(request(index), flag, MPI_STATUS_IGNORE, error)
        end do
      end do
    end select
    call expect('ISEND_COMPLETE')
    call expect_message('IRECV', world, previous, 10 + i, 4 * (2 + i))
  end do
  call MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect_collective(world, allreduce, -1, 16, 16)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call expect_collective(world, gather, 0, 8, 8 * count)
  else
    call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call expect_collective(world, gather, 0, 8, 0)
  end if
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, error)
  call expect_collective(world, create, -1, 0, 0)
  call MPI_Comm_set_name(comm, 'reverse', error)
  call MPI_Barrier(comm, error)
  call expect_collective('reverse', barrier, -1, 0, 0)
  call MPI_Comm_free(comm, error)
  call expect_collective('reverse', destroy, -1, 0, 0)
  bytes = 256
  call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call expect_window(create)
  call expect_on_window(barrier)
  call MPI_Win_fence(0, win, error)
  bytes = 0
  call MPI_Put(a, 5, MPI_INTEGER, next, bytes, 5, MPI_INTEGER, win, error)
  call expect_remote('PUT', next, 20)
  call MPI_Win_fence(0, win, error)
  call expect('OP_COMPLETE_REMOTE')
  call expect_on_window(barrier)
  call MPI_Win_free(win, error)
  call expect_window_freed()
  bytes = 256
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win, error)
  call MPI_Win_free(win, error)
  call expect_window(create_and_allocate)
  call expect_window_freed()
  call expect_close()
  call MPI_Finalize(error)
end program
