! What the Fortran bindings give: messages, wildcards, requests, collectives, communicators; by
! mpif.h's calling convention. Says what it expects as expect.h does.
program families
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: rank, count, next, previous, error, request(2), status(MPI_STATUS_SIZE), comm, i
  integer :: statuses(MPI_STATUS_SIZE, 2), outcount, indices(2), win, index
  logical :: flag
  integer :: a(64), b(64)
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(c_ptr) :: memory
  character(len=4096) :: directory
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, count, error)
  next = mod(rank + 1, count)
  previous = mod(rank + count - 1, count)
  call get_environment_variable('EXPECTED', directory)
  write (directory, '(a,"/",i0,".txt")') trim(directory), rank
  open (unit=9, file=trim(directory))
  a = rank
  b = 0
  call MPI_Sendrecv(a, 3, MPI_INTEGER, next, 1, b, 64, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call message('SEND', next, 1, 12)
  call message('RECV', previous, 1, 12)
  if (b(1) /= previous) stop 1
  do i = 1, 6
    call MPI_Irecv(b, 64, MPI_INTEGER, previous, 10 + i, MPI_COMM_WORLD, request(1), error)
    call MPI_Isend(a, 2 + i, MPI_INTEGER, next, 10 + i, MPI_COMM_WORLD, request(2), error)
    write (9, '(a)') 'IRECV_REQUEST'
    call message('ISEND', next, 10 + i, 4 * (2 + i))
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
    write (9, '(a)') 'ISEND_COMPLETE'
    call message('IRECV', previous, 10 + i, 4 * (2 + i))
  end do
  call MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call collective(11, -1, 16, 16)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call collective(2, 0, 8, 8 * count)
  else
    call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call collective(2, 0, 8, 0)
  end if
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, error)
  call collective(17, -1, 0, 0)
  call MPI_Comm_set_name(comm, 'reverse', error)
  call MPI_Barrier(comm, error)
  write (9, '(a)') 'COLLECTIVE_END comm=reverse op=0 root=-1 sent=0 received=0'
  call MPI_Comm_free(comm, error)
  write (9, '(a)') 'COLLECTIVE_END comm=reverse op=18 root=-1 sent=0 received=0'
  bytes = 256
  call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  write (9, '(a)') 'WIN_CREATE', 'RMA_COLLECTIVE_END op=17', 'RMA_COLLECTIVE_END op=0'
  call MPI_Win_fence(0, win, error)
  bytes = 0
  call MPI_Put(a, 5, MPI_INTEGER, next, bytes, 5, MPI_INTEGER, win, error)
  write (9, '(a,i0,a)') 'PUT remote=', next, ' bytes=20'
  call MPI_Win_fence(0, win, error)
  write (9, '(a)') 'OP_COMPLETE_REMOTE', 'RMA_COLLECTIVE_END op=0'
  call MPI_Win_free(win, error)
  write (9, '(a)') 'RMA_COLLECTIVE_END op=18', 'WIN_DESTROY'
  bytes = 256
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win, error)
  call MPI_Win_free(win, error)
  write (9, '(a)') 'WIN_CREATE', 'RMA_COLLECTIVE_END op=21', 'RMA_COLLECTIVE_END op=18', 'WIN_DESTROY'
  close (9)
  call MPI_Finalize(error)
contains
  subroutine message(kind, peer, tag, length)
    character(len=*), intent(in) :: kind
    integer, intent(in) :: peer, tag, length
    write (9, '(a,a,i0,a,i0,a,i0)') kind, ' comm=MPI_COMM_WORLD peer=', peer, ' tag=', tag, &
      ' bytes=', length
  end subroutine
  subroutine collective(operation, root, sent, received)
    integer, intent(in) :: operation, root, sent, received
    write (9, '(a,i0,a,i0,a,i0,a,i0)') 'COLLECTIVE_END comm=MPI_COMM_WORLD op=', operation, &
      ' root=', root, ' sent=', sent, ' received=', received
  end subroutine
end program
